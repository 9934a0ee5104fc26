/** Where a message is passed on to. */
import { useMutation } from '@tanstack/react-query'
import type { Hands } from '../../api/sandbox.ts'
import type { Chat, Message } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { chatName } from './names.ts'

export interface ForwardProps {
  readonly message: Message
  readonly hands: Hands
  readonly chats: readonly Chat[]
  onClose(): void
}

export function ForwardDialog({ message, hands, chats, onClose }: ForwardProps) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const forwarding = useMutation({
    mutationFn: (to: Chat) => hands.forward(message, to.id),
    onSuccess(_, to) {
      toast(t('messenger.forwardedTo', { name: chatName(to) }))
      onClose()
    },
  })
  return (
    <Dialog title={t('messenger.forwardTo')} open onClose={onClose}>
      <ul className="records pick">
        {chats.map((chat) => (
          <li key={chat.id}>
            <button
              type="button"
              className="record"
              disabled={forwarding.isPending}
              onClick={() => forwarding.mutate(chat)}
            >
              <span className="grow clip label">
                <bdi>{chatName(chat)}</bdi>
              </span>
              <span className="quiet small">{t.word('messenger.type', chat.type)}</span>
            </button>
          </li>
        ))}
      </ul>
      {forwarding.error && (
        <p className="wrong" role="alert">
          {reason(forwarding.error)}
        </p>
      )}
      <div className="actions">
        <Button onClick={onClose}>{t('cancel')}</Button>
      </div>
    </Dialog>
  )
}
