/** An open chat: who it is with, what was written, and where one writes. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import {
  type Chat,
  groupsQuery,
  type Inbox,
  type Message,
  type Person,
  personApi,
} from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { AboutDialog, Members } from './about.tsx'
import { ActingContext, useActing } from './acting.ts'
import { type Aim, Composer } from './composer.tsx'
import { useSummary } from './content.tsx'
import { lineKey, linesIn, messagesIn } from './conversations.ts'
import { FaultsDialog } from './faults.tsx'
import { Bubble } from './message.tsx'
import { chatName, Face, handlesOf, personName, StatusMarks, Verified } from './names.tsx'
import { PickChatDialog } from './pick.tsx'
import { RichText } from './rich-text.tsx'
import { TopicBar, useTopics } from './topics/topics.tsx'

interface ChatTypeProps {
  readonly chat: Chat
  /** Undefined where it is not known. */
  readonly members: number | undefined
}

function ChatType({ chat, members }: ChatTypeProps) {
  const t = useT()
  return (
    <>
      {t.word('messenger.type', chat.direct_with ? 'direct' : chat.type)}
      {members !== undefined && ` · ${t.count('messenger.members', members)}`}
    </>
  )
}

interface ChatHeadProps {
  readonly chat: Chat
  readonly person: Person
  readonly people: readonly Person[]
}

/** The head of a chat: its name, and its settings. */
function ChatHead({ chat, person, people }: ChatHeadProps) {
  const t = useT()
  const groups = useQuery(groupsQuery)
  const [opened, setOpened] = useState<'about' | 'more'>()
  const close = () => setOpened(undefined)
  const other = chat.type === 'private' ? people.find(({ id }) => id === chat.id) : undefined
  const group = groups.data?.items.find(({ id }) => id === chat.id)
  const faults = Object.keys(other?.faults ?? {}).length
  const about = other ?? group
  const name = chatName(chat)
  return (
    <>
      {about && (
        <Button
          kind="bare"
          aria-label={t('profile.about', { name })}
          onClick={() => setOpened('about')}
        >
          <Face name={name} type={chat.type} photo={about.photo} />
        </Button>
      )}
      <div className="grow">
        <h2 className="clip">
          <bdi>{name}</bdi> <Verified verification={about?.verification ?? null} />
          {other && <StatusMarks {...other} />}
        </h2>
        <p className="quiet tiny clip">
          {other ? (
            <span className="ltr">{handlesOf(other)}</span>
          ) : (
            <ChatType chat={chat} members={group?.members.length} />
          )}
        </p>
      </div>
      {other && other.linked_sessions > 0 && <Badge tone="good">{t('messenger.linked')}</Badge>}
      {other && (
        <Button size="slim" icon="bolt" onClick={() => setOpened('more')}>
          <span className="words">
            {t('faults.of', { name: personName(other) })}
            {faults > 0 && ` · ${t.count('faults.on', faults)}`}
          </span>
        </Button>
      )}
      {group && (
        <Button size="slim" icon="accounts" onClick={() => setOpened('more')}>
          <span className="words">{t('members.title')}</span>
        </Button>
      )}
      {opened === 'about' && about && (
        <AboutDialog person={person} chat={chat} about={about} onClose={close} />
      )}
      {opened === 'more' && other && <FaultsDialog person={other} onClose={close} />}
      {opened === 'more' && group && (
        <Members group={group} person={person} people={people} onClose={close} />
      )}
    </>
  )
}

interface ChatWindowProps {
  readonly person: Person
  readonly people: readonly Person[]
  readonly chat: Chat
  readonly inbox: Inbox
  /** New messages do not arrive at the moment. */
  readonly isLost: boolean
  /** Chats to which a message may be forwarded. */
  readonly chats: readonly Chat[]
  open(chat: number): void
  back(): void
}

export function ChatWindow(props: ChatWindowProps) {
  const { person, people, chat, inbox, isLost, chats, open, back } = props
  const t = useT()
  const [aim, setAim] = useState<Aim>()
  const [passing, setPassing] = useState<Message>()
  const api = useMemo(() => personApi(person.id), [person.id])
  const messages = messagesIn(inbox, chat.id)
  const reading = useTopics(chat, messages)
  const byId = new Map(messages.map((message) => [message.message_id, message]))
  const aimed = aim && byId.has(aim.message.message_id) ? aim : undefined
  const standing = inbox.keyboards.find((one) => one.chat.id === chat.id)
  useForcedReply(standing?.force_reply ? byId.get(standing.message_id) : undefined, (message) => {
    if (!aimed) setAim({ act: 'reply', message })
  })
  return (
    <ActingContext value={{ person, people, chats, api, open }}>
      <section className="window" aria-label={t('messenger.chat')}>
        <Bar chat={chat} person={person} people={people} back={back} />
        {reading && <TopicBar chat={chat} reading={reading} />}
        <Pinned messages={messages} />
        <Lines {...{ chat, inbox, person, byId, reading }} aim={setAim} pass={setPassing} />
        <Typing chat={chat} inbox={inbox} isLost={isLost} reading={reading} />
        <Composer
          key={chat.id}
          chat={chat}
          person={person}
          api={api}
          thread={reading?.topic?.message_thread_id}
          standing={standing}
          aim={aimed}
          release={() => setAim(undefined)}
          resume={setAim}
        />
        {passing && <ForwardDialog message={passing} onClose={() => setPassing(undefined)} />}
      </section>
    </ActingContext>
  )
}

/** The newest one of the pinned messages. */
function Pinned({ messages }: { readonly messages: readonly Message[] }) {
  const t = useT()
  const summary = useSummary()
  const pinned = messages.filter(({ is_pinned }) => is_pinned)
  const newest = pinned.at(-1)
  if (!newest) return null
  return (
    <p className="pinned small">
      <Icon name="pin" size={14} />
      <span className="label">{t.count('messenger.pinned', pinned.length)}</span>
      <span className="quiet clip grow" dir="auto">
        {summary(newest)}
      </span>
    </p>
  )
}

type Topics = ReturnType<typeof useTopics>

interface LinesProps extends Pick<ChatWindowProps, 'chat' | 'inbox' | 'person'> {
  readonly byId: ReadonlyMap<number, Message>
  readonly reading: Topics
  aim(aim: Aim): void
  pass(message: Message): void
}

function Lines({ chat, inbox, person, byId, reading, aim, pass }: LinesProps) {
  const t = useT()
  const { api } = useActing()
  const lines = linesIn(inbox, chat.id).filter((message) => reading?.holds(message) ?? true)
  return (
    // A log is read aloud as it grows, and what scrolls must be reachable by keyboard.
    <div className="scroll" role="log" aria-label={t('messenger.messages')} tabIndex={0}>
      <ol className="lines">
        {lines.length === 0 && <li className="fact quiet small">{t('messenger.empty')}</li>}
        {lines.map((message, place) => (
          <Bubble
            key={lineKey(message)}
            message={message}
            person={person.id}
            topic={reading?.named(message)}
            repliedTo={byId.get(message.reply_to_message_id ?? 0)}
            isJoined={isOneAlbum(message, lines[place - 1])}
            api={api}
            reply={() => aim({ act: 'reply', message })}
            edit={() => aim({ act: 'edit', message })}
            forward={() => pass(message)}
          />
        ))}
        <Drafts chat={chat} inbox={inbox} />
      </ol>
    </div>
  )
}

interface ForwardProps {
  readonly message: Message
  onClose(): void
}

/** The choice of the chat to which a message is forwarded. */
function ForwardDialog({ message, onClose }: ForwardProps) {
  const t = useT()
  const toast = useToast()
  const { chats, api } = useActing()
  return (
    <PickChatDialog
      title={t('messenger.forwardTo')}
      chats={chats}
      pick={async (to) => {
        await api.forward(message, to.id)
        toast(t('messenger.forwardedTo', { name: chatName(to) }))
      }}
      onClose={onClose}
    />
  )
}

/** Opens the answer to a message that asks for one. It opens once, so that a person can close it. */
function useForcedReply(asking: Message | undefined, open: (message: Message) => void): void {
  const [asked, setAsked] = useState<number>()
  if (!asking || asking.message_id === asked) return
  setAsked(asking.message_id)
  open(asking)
}

const isOneAlbum = ({ media_group_id: album }: Message, before: Message | undefined) =>
  album !== undefined && before?.media_group_id === album

/** Messages that grow while a bot writes them. */
function Drafts({ chat, inbox }: Pick<ChatWindowProps, 'chat' | 'inbox'>) {
  return inbox.drafts
    .filter((draft) => draft.chat.id === chat.id)
    .map((draft) => <Draft key={`${draft.person.id} ${draft.draft_id}`} draft={draft} />)
}

function Draft({ draft }: { readonly draft: Inbox['drafts'][number] }) {
  const t = useT()
  const toast = useToast()
  const reason = useReason()
  const { api } = useActing()
  const stopping = useMutation({
    mutationFn: () => api.stopDraft(draft.chat.id, draft.draft_id),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <li className="line draft">
      <div className="bubble" aria-busy="true">
        <RichText text={draft.text} entities={draft.entities} />
        <span className="quiet tiny">
          {t('messenger.drafting', { name: personName(draft.person) })}
        </span>
        {draft.can_stop && (
          <Button size="slim" busy={stopping.isPending} onClick={() => stopping.mutate()}>
            {t('messenger.stopDraft')}
          </Button>
        )}
      </div>
    </li>
  )
}

interface TypingProps extends Pick<ChatWindowProps, 'chat' | 'inbox' | 'isLost'> {
  readonly reading: Topics
}

function Typing({ chat, inbox, isLost, reading }: TypingProps) {
  const t = useT()
  const typing = inbox.typing.filter(
    (one) => one.chat.id === chat.id && (reading?.holds(one) ?? true),
  )
  return (
    <p className="typing quiet small" role="status">
      {isLost
        ? t('live.off')
        : typing.length > 0 &&
          t('messenger.typing', { name: typing.map((one) => personName(one.person)).join(', ') })}
    </p>
  )
}

type BarProps = Pick<ChatWindowProps, 'chat' | 'person' | 'people' | 'back'>

function Bar({ chat, person, people, back }: BarProps) {
  const t = useT()
  return (
    <header className="bar">
      <span className="leave">
        <Button kind="bare" icon="back" aria-label={t('back')} onClick={back} />
      </span>
      <ChatHead chat={chat} person={person} people={people} />
    </header>
  )
}
