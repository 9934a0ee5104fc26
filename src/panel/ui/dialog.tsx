/** A dialog that takes the focus and gives it back. */
import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'

interface DialogProps {
  readonly title: string
  readonly open: boolean
  readonly wide?: boolean
  /** A dialog that shows something only once is closed by its own buttons alone: not by Esc or a click beside it. */
  readonly isFirm?: boolean
  readonly children: ReactNode
  onClose(): void
}

export function Dialog({ title, open, wide, isFirm = false, children, onClose }: DialogProps) {
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
