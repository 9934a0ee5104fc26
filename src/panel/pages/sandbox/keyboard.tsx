/** Inline buttons under a message: pressed, and the bot's answer shown as a messenger does. */
import { useMutation } from '@tanstack/react-query'
import type { Hands } from '../../api/sandbox.ts'
import type { InlineButton, Message } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { Outside } from './rich-text.tsx'

export interface KeyboardProps {
  readonly message: Message
  readonly rows: readonly (readonly InlineButton[])[]
  readonly hands: Hands
}

export function Keyboard({ message, rows, hands }: KeyboardProps) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const pressing = useMutation({
    mutationFn: (data: string) => hands.press(message, data),
    onSuccess({ answered, text, show_alert }) {
      if (!answered) toast(t('messenger.unanswered'), 'bad')
      else if (text && !show_alert) toast(text)
    },
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  const alert = pressing.data?.show_alert ? pressing.data.text : undefined
  return (
    <div className="keyboard">
      {rows.map((row) => (
        <div key={JSON.stringify(row)} className="keys">
          {row.map(({ text, callback_data, url }) =>
            url !== undefined ? (
              <Outside key={text} address={url} className="button slim">
                {text}
              </Outside>
            ) : (
              <Button
                key={text}
                size="slim"
                busy={pressing.isPending && pressing.variables === callback_data}
                onClick={() => pressing.mutate(callback_data ?? text)}
              >
                {text}
              </Button>
            ),
          )}
        </div>
      ))}
      <Dialog title={t('messenger.alert')} open={alert !== undefined} onClose={pressing.reset}>
        <p dir="auto">{alert}</p>
        <div className="actions">
          <Button kind="first" onClick={pressing.reset}>
            {t('close')}
          </Button>
        </div>
      </Dialog>
    </div>
  )
}
