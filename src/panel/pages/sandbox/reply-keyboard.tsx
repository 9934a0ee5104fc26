/** The keyboard that a bot put below the message field: each key writes its text, or sends what it asks for. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Chat, Key, Person, StandingKeyboard, Written } from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { useActing } from './acting.ts'
import { NewBotDialog } from './delegates.tsx'
import { NewPlaceDialog } from './new-content.tsx'
import { PickChatDialog, PickPeopleDialog } from './pick.tsx'
import { NewPollDialog } from './sending/poll.tsx'
import { WebAppDialog } from './web-app.tsx'

interface ReplyKeyboardProps {
  readonly id: string
  readonly chat: number
  readonly rows: NonNullable<StandingKeyboard['keyboard']>
  write(content: Omit<Written, 'to'>): Promise<unknown>
}

export function ReplyKeyboard({ id, chat, rows, write }: ReplyKeyboardProps) {
  const { person } = useActing()
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const [opened, setOpened] = useState<Key>()
  const pressing = useMutation({
    mutationFn: ({ key }: Placed) =>
      write(key.request_contact ? { contact: contactOf(person) } : { text: key.text }),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  const press = (placed: Placed) => {
    if (opensDialog(placed.key)) setOpened(placed.key)
    else if (!pressing.isPending) pressing.mutate(placed)
  }
  return (
    <div id={id} className="reply-keyboard" role="group" aria-label={t('messenger.keyboard')}>
      {placedIn(rows).map((row) => (
        <div key={row[0]?.place} className="keys">
          {row.map((placed) => {
            return (
              <Button
                key={placed.place}
                busy={pressing.isPending && pressing.variables.place === placed.place}
                onClick={() => press(placed)}
              >
                <bdi>{placed.key.text}</bdi>
              </Button>
            )
          })}
        </div>
      ))}
      {opened && (
        <Opened asked={opened} chat={chat} write={write} onClose={() => setOpened(undefined)} />
      )}
    </div>
  )
}

const opensDialog = (key: Key): boolean =>
  [
    ...[key.request_location, key.request_poll, key.request_users, key.request_chat],
    ...[key.web_app, key.request_managed_bot],
  ].some(Boolean)

interface OpenedProps extends Pick<ReplyKeyboardProps, 'chat' | 'write'> {
  /** The key, by what it asks for. */
  readonly asked: Key
  onClose(): void
}

/** The dialog in which a person makes or chooses what a key asks for. */
function Opened({ asked, chat, write, onClose }: OpenedProps) {
  const { api, person, people, chats } = useActing()
  const { text, request_users: users, request_chat: wanted, request_poll, web_app } = asked
  const { request_managed_bot: made } = asked
  if (made) {
    const managers = people.filter(({ id }) => id === chat)
    const request = made.request_id
    return <NewBotDialog person={person} managers={managers} request={request} onClose={onClose} />
  }
  if (web_app) {
    const send = (data: string) => api.sendWebAppData(chat, text, data)
    const bot = people.find(({ id }) => id === chat) ?? { id: chat }
    return <WebAppDialog bot={bot} chat={chat} url={web_app.url} send={send} onClose={onClose} />
  }
  if (users) {
    const share = { to: chat, request_id: users.request_id }
    return (
      <PickPeopleDialog
        title={text}
        people={people.filter(({ id }) => id !== person.id)}
        most={users.max_quantity ?? 1}
        pick={(user_ids) => api.share({ ...share, user_ids })}
        onClose={onClose}
      />
    )
  }
  if (wanted) {
    const share = { to: chat, request_id: wanted.request_id }
    const isWanted = ({ type }: Chat) =>
      wanted.chat_is_channel ? type === 'channel' : type !== 'channel' && type !== 'private'
    return (
      <PickChatDialog
        title={text}
        chats={chats.filter(isWanted)}
        pick={({ id: chat_id }) => api.share({ ...share, chat_id })}
        onClose={onClose}
      />
    )
  }
  if (request_poll) {
    return <NewPollDialog write={write} type={request_poll.type} onClose={onClose} />
  }
  return <NewPlaceDialog write={write} onClose={onClose} />
}

/** Two keys may say the same: a key is known by where it is. */
interface Placed {
  readonly place: string
  readonly key: Key
}

const placedIn = (rows: ReplyKeyboardProps['rows']): readonly (readonly Placed[])[] =>
  rows.map((row, y) => row.map((key, x) => ({ place: `${y} ${x}`, key })))

const contactOf = ({ id, phone, first_name, last_name }: Person) => ({
  phone_number: phone,
  first_name,
  ...(last_name && { last_name }),
  user_id: id,
})

interface Keys {
  readonly rows: NonNullable<StandingKeyboard['keyboard']>
  readonly placeholder: string | undefined
  readonly isOpen: boolean
  /** There is something to be hidden and called back. */
  readonly canHide: boolean
  toggle(): void
}

/** Whether the keys that a bot put below the message field are shown there or hidden. */
export function useKeys(standing: StandingKeyboard | undefined): Keys {
  const [chosen, setChosen] = useState<{ readonly of: string; readonly isOpen: boolean }>()
  const rows = standing?.keyboard ?? []
  const hasKeys = rows.length > 0
  const isUsed = standing?.used ?? false
  const isFixed = (standing?.is_persistent ?? false) && !isUsed
  // A choice holds for one keyboard, and only until it is used.
  const of = `${standing?.message_id} ${isUsed}`
  const isOpen = hasKeys && (isFixed || (chosen?.of === of ? chosen.isOpen : !isUsed))
  return {
    rows,
    placeholder: isOpen || !hasKeys ? standing?.input_field_placeholder : undefined,
    isOpen,
    canHide: hasKeys && !isFixed,
    toggle: () => setChosen({ of, isOpen: !isOpen }),
  }
}
