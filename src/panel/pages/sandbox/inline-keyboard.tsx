/** The buttons under a message, of every kind: what each does is done, and the bot's answer shown as a messenger does. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Chat, InlineButton, Message, PersonName } from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { type Acting, useActing } from './acting.ts'
import { setDraft } from './drafts.ts'
import { personName } from './names.tsx'
import { PayDialog, placeOf } from './pay.tsx'
import { PickChatDialog } from './pick.tsx'
import { Outside } from './rich-text.tsx'
import { WebAppDialog } from './web-app.tsx'

interface KeyboardProps {
  readonly message: Message
  readonly rows: readonly (readonly InlineButton[])[]
}

export function InlineKeyboard({ message, rows }: KeyboardProps) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const { api, person } = useActing()
  const [opened, setOpened] = useState<InlineButton>()
  const bot = message.via_bot ?? message.from
  const pressing = useMutation({
    mutationFn: (data: string | undefined) => api.press(message, data),
    onSuccess({ answered, text, show_alert }) {
      if (!answered) toast(t('messenger.unanswered'), 'bad')
      else if (text && !show_alert) toast(text)
    },
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  const press = async (button: InlineButton) => {
    const { copy_text, switch_inline_query_current_chat: here } = button
    if (here !== undefined) setDraft(person.id, message.chat.id, inlineDraft(bot, here))
    else if (copy_text) {
      const isCopied = await copy(copy_text.text)
      toast(t(isCopied ? 'copied' : 'copy.failed'), isCopied ? 'good' : 'bad')
    } else if (opensDialog(button, message)) setOpened(button)
    else pressing.mutate(button.callback_game ? undefined : (button.callback_data ?? button.text))
  }
  const { text: said, show_alert, url: game } = pressing.data ?? {}
  const alert = show_alert ? said : undefined
  return (
    <div className="keyboard">
      {rows.map((row) => (
        <div key={JSON.stringify(row)} className="keys">
          {row.map((button) =>
            button.url !== undefined ? (
              <Outside key={JSON.stringify(button)} address={button.url} className="button slim">
                {button.text}
              </Outside>
            ) : (
              <Button
                key={JSON.stringify(button)}
                size="slim"
                kind={kindOf(button)}
                disabled={button.disabled !== undefined}
                busy={pressing.isPending && pressing.variables === button.callback_data}
                onClick={() => press(button)}
              >
                <bdi>{button.text}</bdi>
              </Button>
            ),
          )}
        </div>
      ))}
      {opened && bot && (
        <Opened button={opened} bot={bot} message={message} onClose={() => setOpened(undefined)} />
      )}
      <Alert text={alert} address={game} onClose={pressing.reset} />
    </div>
  )
}

interface AlertProps {
  readonly text: string | undefined
  /** The address of the game that a button starts. */
  readonly address: string | undefined
  onClose(): void
}

/** The alert of the bot, to be read before anything else is done. */
function Alert({ text, address, onClose }: AlertProps) {
  const t = useT()
  return (
    <Dialog title={t('messenger.alert')} open={(text ?? address) !== undefined} onClose={onClose}>
      <p dir="auto">{text ?? (address && <Outside address={address}>{address}</Outside>)}</p>
      <div className="actions">
        <Button kind="first" onClick={onClose}>
          {t('close')}
        </Button>
      </div>
    </Dialog>
  )
}

const kindOf = ({ style }: InlineButton) =>
  style === 'danger' ? 'danger' : style === undefined ? 'plain' : 'first'

const opensDialog = (button: InlineButton, message: Message): boolean =>
  (button.pay && message.invoice !== undefined) ||
  button.web_app !== undefined ||
  button.login_url !== undefined ||
  elsewhere(button) !== undefined

/** The inline query for the bot in a chat that the person chooses. */
const elsewhere = (button: InlineButton): string | undefined =>
  button.switch_inline_query ??
  (button.switch_inline_query_chosen_chat && (button.switch_inline_query_chosen_chat.query ?? ''))

const inlineDraft = (bot: PersonName | undefined, query: string) =>
  `@${bot?.username ?? bot?.id} ${query}`

interface OpenedProps {
  readonly button: InlineButton
  readonly bot: PersonName
  readonly message: Message
  onClose(): void
}

/** The dialog that a button opens: a web app, a sign-in, or the choice of a chat. */
function Opened({ button, bot, message, onClose }: OpenedProps) {
  const t = useT()
  const acting = useActing()
  const { web_app, login_url, pay } = button
  if (pay && message.invoice) {
    return <PayDialog payable={placeOf(message)} invoice={message.invoice} onClose={onClose} />
  }
  if (web_app) {
    return <WebAppDialog bot={bot} chat={message.chat.id} url={web_app.url} onClose={onClose} />
  }
  if (login_url) return <SignInDialog address={login_url.url} acting={acting} onClose={onClose} />
  return (
    <PickChatDialog
      title={t('inline.where')}
      chats={acting.chats.filter((chat) => isAllowed(button, chat, acting))}
      pick={async (chat) => {
        setDraft(acting.person.id, chat.id, inlineDraft(bot, elsewhere(button) ?? ''))
        acting.open(chat.id)
      }}
      onClose={onClose}
    />
  )
}

/** The kinds of chats that the button allows; it names at least one. */
function isAllowed(button: InlineButton, chat: Chat, { people }: Acting): boolean {
  const allowed = button.switch_inline_query_chosen_chat
  if (!allowed) return true
  if (chat.type === 'channel') return allowed.allow_channel_chats ?? false
  if (chat.type !== 'private') return allowed.allow_group_chats ?? false
  const isBot = people.some(({ id, linked_sessions }) => id === chat.id && linked_sessions > 0)
  return (isBot ? allowed.allow_bot_chats : allowed.allow_user_chats) ?? false
}

interface SignInProps {
  readonly address: string
  readonly acting: Acting
  onClose(): void
}

/** The way to a site that signs the person in. The sandbox signs nothing, because it does not know the keys of bots. */
function SignInDialog({ address, acting: { person }, onClose }: SignInProps) {
  const t = useT()
  const name = personName(person)
  return (
    <Dialog title={t('signIn.title')} open onClose={onClose}>
      <p>{t('signIn.text', { name, site: siteOf(address) })}</p>
      <p className="quiet small">{t('signIn.unsigned')}</p>
      <div className="actions">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Outside address={signedIn(address, person)} className="button first">
          {t('signIn.go')}
        </Outside>
      </div>
    </Dialog>
  )
}

const siteOf = (address: string) => (URL.canParse(address) ? new URL(address).host : address)

function signedIn(address: string, person: Acting['person']): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  const { id, first_name, last_name, username } = person
  const about = { id, first_name, last_name, username, auth_date: Math.floor(Date.now() / 1000) }
  for (const [name, value] of Object.entries(about)) {
    if (value !== null) url.searchParams.set(name, `${value}`)
  }
  return url.href
}
