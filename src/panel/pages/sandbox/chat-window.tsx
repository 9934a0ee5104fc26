/** An open chat: who it is with, what was written, and where one writes. */
import { useMemo, useState } from 'react'
import { handsOf } from '../../api/sandbox.ts'
import type { Chat, Inbox, Message, Person } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { ChatHead } from './chat-head.tsx'
import { type Aim, Composer } from './composer.tsx'
import { messagesIn } from './conversations.ts'
import { ForwardDialog } from './forward.tsx'
import { Bubble } from './message.tsx'
import { personName } from './names.ts'

export interface ChatWindowProps {
  readonly person: Person
  readonly people: readonly Person[]
  readonly chat: Chat
  readonly inbox: Inbox
  /** What is new is not heard of at the moment. */
  readonly isLost: boolean
  /** Where a message may be passed on to. */
  readonly chats: readonly Chat[]
  back(): void
}

export function ChatWindow({ person, people, chat, inbox, isLost, chats, back }: ChatWindowProps) {
  const t = useT()
  const [aim, setAim] = useState<Aim>()
  const [passing, setPassing] = useState<Message>()
  const hands = useMemo(() => handsOf(person.id), [person.id])
  const messages = messagesIn(inbox, chat.id)
  const byId = new Map(messages.map((message) => [message.message_id, message]))
  const typing = inbox.typing.filter((one) => one.chat.id === chat.id)
  const aimed = aim && byId.has(aim.message.message_id) ? aim : undefined
  const standing = inbox.keyboards.find((one) => one.chat.id === chat.id)
  const asking = standing?.force_reply ? byId.get(standing.message_id) : undefined
  const [asked, setAsked] = useState<number>()
  // Opened once: whoever does not want to answer can leave it.
  if (asking && asking.message_id !== asked) {
    setAsked(asking.message_id)
    if (!aimed) setAim({ act: 'reply', message: asking })
  }
  return (
    <section className="window" aria-label={t('messenger.chat')}>
      <header className="bar">
        <span className="leave">
          <Button kind="bare" icon="back" aria-label={t('back')} onClick={back} />
        </span>
        <ChatHead chat={chat} person={person} people={people} />
      </header>
      {/* A log is read aloud as it grows, and what scrolls must be reachable by keyboard. */}
      <div className="scroll" role="log" aria-label={t('messenger.messages')} tabIndex={0}>
        <ol className="lines">
          {messages.length === 0 && <li className="fact quiet small">{t('messenger.empty')}</li>}
          {messages.map((message, place) => (
            <Bubble
              key={message.message_id}
              message={message}
              person={person.id}
              repliedTo={byId.get(message.reply_to_message_id ?? 0)}
              isJoined={isOneAlbum(message, messages[place - 1])}
              hands={hands}
              reply={() => setAim({ act: 'reply', message })}
              edit={() => setAim({ act: 'edit', message })}
              forward={() => setPassing(message)}
            />
          ))}
        </ol>
      </div>
      <p className="typing quiet small" role="status">
        {isLost
          ? t('live.off')
          : typing.length > 0 &&
            t('messenger.typing', { name: typing.map((one) => personName(one.person)).join(', ') })}
      </p>
      <Composer
        key={chat.id}
        chat={chat.id}
        person={person}
        hands={hands}
        standing={standing}
        aim={aimed}
        release={() => setAim(undefined)}
        resume={setAim}
      />
      {passing && (
        <ForwardDialog
          message={passing}
          hands={hands}
          chats={chats}
          onClose={() => setPassing(undefined)}
        />
      )}
    </section>
  )
}

const isOneAlbum = ({ media_group_id: album }: Message, before: Message | undefined) =>
  album !== undefined && before?.media_group_id === album
