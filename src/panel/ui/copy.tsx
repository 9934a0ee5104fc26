/** Text with a button that copies it. */
import { useEffect, useState } from 'react'
import { useT } from '../i18n/language.tsx'
import { Button } from './button.tsx'

const SHOWN_MS = 2_000

/** Insecure pages have no clipboard API, but a selection can still be copied. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const t = useT()
  const [outcome, setOutcome] = useState<boolean>()
  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [outcome])
  const said = outcome === undefined ? (label ?? t('copy')) : t(outcome ? 'copied' : 'copy.failed')
  return (
    <Button
      kind="bare"
      size="slim"
      icon={outcome ? 'check' : 'copy'}
      onClick={async () => setOutcome(await copy(text))}
    >
      <span aria-live="polite">{said}</span>
    </Button>
  )
}

export function Copied({ text, wrap = false }: { readonly text: string; readonly wrap?: boolean }) {
  return (
    <div className={wrap ? 'copied wrap' : 'copied'}>
      {/* A long line scrolls, and what scrolls must be reachable by keyboard. */}
      <code tabIndex={0}>{text}</code>
      <CopyButton text={text} />
    </div>
  )
}
