/** A question mark that explains a word where one hesitates: the browser's own popover, closed by Esc or a click beside it. */
import { type KeyboardEvent, useId, useRef } from 'react'
import { useT } from '../i18n/language.tsx'

/** What is explained, and the chapter of the documentation that says more: a tag of its operations. */
const chapters = {
  scopes: 'api keys',
  overlap: 'api keys',
  silence: 'alerts',
  cursor: 'api keys',
  settings: 'credentials',
  linking: 'linking',
  webhook: 'api keys',
  resend: 'api keys',
  minutes: 'alerts',
  diagnosis: 'api keys',
} as const

export function Hint({ about }: { readonly about: keyof typeof chapters }) {
  const t = useT()
  const id = useId()
  const text = useRef<HTMLDivElement>(null)
  /** Esc closes the hint alone, and not the dialog that it may stand in. */
  const keepEscape = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && text.current?.matches(':popover-open')) event.stopPropagation()
  }
  return (
    <>
      <button
        type="button"
        className="hint-mark"
        popoverTarget={id}
        aria-label={t('hint.what', { subject: t(`hint.${about}.title`) })}
        onKeyDown={keepEscape}
      >
        ?
      </button>
      <div ref={text} id={id} popover="auto" className="hint-text" role="note">
        <p className="label">{t(`hint.${about}.title`)}</p>
        <p className="small">{t(`hint.${about}`)}</p>
        <p className="small">
          <a
            href={`/docs#/${encodeURIComponent(chapters[about])}`}
            target="_blank"
            rel="noreferrer"
            onKeyDown={keepEscape}
          >
            {t('hint.more')}
          </a>
        </p>
      </div>
    </>
  )
}
