/** Asks before something that cannot be taken back; the most serious things want a word typed. */
import { type ReactNode, useState } from 'react'
import { latinDigits } from '../i18n/digits.ts'
import { useT } from '../i18n/language.tsx'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'

interface ConfirmProps {
  readonly title: string
  readonly action: string
  readonly open: boolean
  readonly busy?: boolean
  readonly wrong?: string | undefined
  /** To be typed before the action can be taken. */
  readonly word?: string
  readonly children: ReactNode
  onConfirm(): void
  onClose(): void
}

export function Confirm(props: ConfirmProps) {
  const { title, action, open, busy = false, wrong, word, children, onConfirm, onClose } = props
  const t = useT()
  const [typed, setTyped] = useState('')
  const isSure = word === undefined || latinDigits(typed.trim()) === latinDigits(word)
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      <div className="quiet">{children}</div>
      {word !== undefined && (
        <Field
          label={t('confirm.type', { word })}
          value={typed}
          autoComplete="off"
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
      {wrong && (
        <p className="wrong" role="alert">
          {wrong}
        </p>
      )}
      <div className="actions">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button kind="danger first" busy={busy} disabled={!isSure} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
