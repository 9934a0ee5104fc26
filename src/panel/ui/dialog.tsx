/** Dialogs, which take the focus and give it back: any, and the one that asks before something irreversible. */

import { Dialog as Base } from '@base-ui/react/dialog'
import { type ReactNode, useState } from 'react'
import { latinDigits } from '../i18n/formats.ts'
import { useT } from '../i18n/language.tsx'
import { Button } from './button.tsx'
import { Field } from './form.tsx'
import { useStaying } from './use-in-address.ts'

interface ConfirmProps {
  readonly title: string
  readonly action: string
  readonly open: boolean
  readonly busy?: boolean
  readonly wrong?: string | undefined
  /** The word to type before the action is possible. */
  readonly word?: string
  /** Whether it can be undone. */
  readonly isMild?: boolean
  readonly children: ReactNode
  onConfirm(): void
  onClose(): void
}

/** Asks before an action that concerns many or cannot be undone; the most serious ones require a typed word. */
export function Confirm(props: ConfirmProps) {
  const {
    title,
    action,
    open,
    busy = false,
    wrong,
    word,
    isMild,
    children,
    onConfirm,
    onClose,
  } = props
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
        <Button
          kind={isMild ? 'first' : 'danger first'}
          busy={busy}
          disabled={!isSure}
          onClick={onConfirm}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  )
}

interface DialogProps {
  readonly title: string
  readonly open: boolean
  readonly wide?: boolean
  /** A dialog that shows something only once is closed by its own buttons alone: not by Esc, a click beside it, or Back. */
  readonly isFirm?: boolean
  readonly children: ReactNode
  onClose(): void
}

export function Dialog({ title, open, wide, isFirm = false, children, onClose }: DialogProps) {
  useStaying(open && isFirm)
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={isFirm}
      onOpenChange={(isOpen) => {
        if (!isOpen && !isFirm) onClose()
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="veil" />
        <Base.Popup className={wide ? 'dialog wide' : 'dialog'}>
          <Base.Title render={<h2 />}>{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
