/** Dialogs, which take the focus and give it back: any, the one that asks before something irreversible, and the one that asks why. */

import { Dialog as Base } from '@base-ui/react/dialog'
import { type ReactNode, useState } from 'react'
import { latinDigits } from '../i18n/formats.ts'
import { useT } from '../i18n/language.tsx'
import { Button } from './button.tsx'
import { Field, Form } from './form.tsx'
import { useReason } from './states.tsx'
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

interface ReasonDialogProps {
  readonly title: string
  readonly label: string
  readonly hint: string
  readonly action: string
  readonly isDanger?: boolean
  /** Gets the reason. */
  readonly by: {
    readonly isPending: boolean
    readonly error: Error | null
    mutate(reason: string): void
  }
  readonly children?: ReactNode
  onClose(): void
}

/** Asks for the reason of something that is kept with it. */
export function ReasonDialog(props: ReasonDialogProps) {
  const { title, label, hint, action, isDanger = false, by, children, onClose } = props
  const t = useT()
  const wordsOf = useReason()
  const [reason, setReason] = useState('')
  return (
    <Dialog title={title} open isFirm={by.isPending} onClose={onClose}>
      <Form by={{ isPending: by.isPending, mutate: () => by.mutate(reason) }}>
        {children}
        <Field
          label={label}
          hint={hint}
          wrong={by.error ? wordsOf(by.error) : undefined}
          required
          minLength={3}
          maxLength={500}
          autoComplete="off"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <div className="actions">
          <Button disabled={by.isPending} onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button type="submit" kind={isDanger ? 'danger' : 'first'} busy={by.isPending}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
