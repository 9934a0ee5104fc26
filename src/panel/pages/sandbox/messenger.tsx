/** The messenger of one person: the chats on one side, the open one on the other. */

import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useSearchParams } from 'react-router'
import { call } from '../../api/call.ts'
import { groupsQuery, type Inbox, type Person, peopleQuery } from '../../api/sandbox.ts'
import { untilVisible } from '../../api/stream.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Copied } from '../../ui/copy.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'
import { ChatWindow } from './chat-window.tsx'
import { useSummary } from './content.tsx'
import { type Conversation, chatsOf, conversationsOf, privateChat } from './conversations.ts'
import { chatName, Face, Verified } from './names.tsx'
import { NewChatDialog } from './new-chat.tsx'

interface ChatListProps {
  readonly conversations: readonly Conversation[]
  readonly codes: Inbox['codes']
  readonly open: number | undefined
  onOpen(chat: number): void
}

/** The chats of a person, with the latest words of each. */
function ChatList({ conversations, codes, open, onOpen }: ChatListProps) {
  const t = useT()
  const { hour } = useFormats()
  const summary = useSummary()
  const people = useQuery(peopleQuery)
  const groups = useQuery(groupsQuery)
  const others = [...(people.data?.items ?? []), ...(groups.data?.items ?? [])]
  const known = new Map(others.map((one) => [one.id, one]))
  return (
    <nav className="scroll" aria-label={t('messenger.chats')}>
      {codes.slice(0, 1).map(({ code }) => (
        <div key={code} className="code-note stack tight">
          <span className="small">{t('messenger.code')}</span>
          <Copied text={code} />
        </div>
      ))}
      <ul className="chats">
        {conversations.map(({ chat, last }) => (
          <li key={chat.id}>
            <button
              type="button"
              className="record"
              aria-current={chat.id === open ? 'true' : undefined}
              onClick={() => onOpen(chat.id)}
            >
              <Face name={chatName(chat)} type={chat.type} photo={known.get(chat.id)?.photo} />
              <span className="grow">
                <span className="label clip block" dir="auto">
                  {chatName(chat)}
                  <Verified verification={known.get(chat.id)?.verification ?? null} />
                </span>
                <span className="quiet small clip block" dir="auto">
                  {last ? summary(last) : t.word('messenger.type', chat.type)}
                </span>
              </span>
              {last && <span className="quiet tiny">{hour(last.date * 1000)}</span>}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const MESSAGES = 500
const WAIT_SECONDS = 25
/** Somebody who stops typing makes no event. */
const TYPING_SECONDS = 6
const PAUSE_MS = 2_000

interface Seen {
  readonly inbox: Inbox | undefined
  readonly failure: unknown
}

const nothing: Seen = { inbox: undefined, failure: undefined }

/** The inbox of a person, kept up to date: each request waits until something has changed. */
function useInbox(person: number): Seen {
  const [seen, setSeen] = useState<Seen & { readonly of: number }>({ ...nothing, of: person })
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const follow = async () => {
      let inbox: Inbox | undefined
      while (!signal.aborted) {
        try {
          await untilVisible(signal)
          inbox = await look(person, inbox, signal)
          if (!signal.aborted) setSeen({ inbox, failure: undefined, of: person })
        } catch (failure) {
          if (signal.aborted) return
          setSeen({ inbox, failure, of: person })
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        }
      }
    }
    follow()
    return () => leaving.abort()
  }, [person])
  return seen.of === person ? seen : nothing
}

function look(person: number, before: Inbox | undefined, signal: AbortSignal): Promise<Inbox> {
  const patience = before?.typing.length ? TYPING_SECONDS : WAIT_SECONDS
  return call<Inbox>('GET', `/sandbox/people/${person}/inbox`, {
    query: { limit: MESSAGES, ...(before && { known: before.tag, wait_seconds: patience }) },
    signal,
  })
}

interface MessengerProps {
  readonly person: Person
  readonly people: readonly Person[]
}

export function Messenger({ person, people }: MessengerProps) {
  const t = useT()
  const { inbox, failure } = useInbox(person.id)
  const groups = useQuery(groupsQuery)
  const [query, setQuery] = useSearchParams()
  const [isChoosing, setChoosing] = useState(false)
  const open = Number(query.get('chat')) || undefined
  const show = (chat?: number) => {
    setChoosing(false)
    setQuery({ as: `${person.id}`, ...(chat !== undefined && { chat: `${chat}` }) })
  }
  if (!inbox) {
    return failure ? <Failed cause={failure} /> : <Loading lines={6} />
  }
  const conversations = conversationsOf(person.id, inbox, groups.data?.items ?? [])
  const others = people.filter(({ id, deactivated }) => id !== person.id && !deactivated)
  const other = people.find(({ id }) => id === open)
  const chat =
    conversations.find((one) => one.chat.id === open)?.chat ?? (other && privateChat(other))
  return (
    <div className={chat ? 'messenger open' : 'messenger'}>
      <div className="list">
        <header className="bar">
          <h2 className="grow">{t('messenger.chats')}</h2>
          <Button size="slim" icon="plus" onClick={() => setChoosing(true)}>
            {t('messenger.newChat')}
          </Button>
        </header>
        <ChatList conversations={conversations} codes={inbox.codes} open={chat?.id} onOpen={show} />
      </div>
      {chat ? (
        <ChatWindow
          key={`${person.id} ${chat.id}`}
          person={person}
          people={people}
          chat={chat}
          inbox={inbox}
          isLost={failure !== undefined}
          chats={chatsOf(conversations, others)}
          open={show}
          back={() => show()}
        />
      ) : (
        <NoChat choose={() => setChoosing(true)} />
      )}
      {isChoosing && (
        <NewChatDialog
          person={person}
          people={people}
          onOpen={show}
          onClose={() => setChoosing(false)}
        />
      )}
    </div>
  )
}

function NoChat({ choose }: { choose(): void }) {
  const t = useT()
  return (
    <div className="window nothing">
      <Empty
        icon="send"
        title={t('messenger.choose')}
        action={
          <Button kind="first" onClick={choose}>
            {t('messenger.newChat')}
          </Button>
        }
      >
        {t('messenger.chooseText')}
      </Empty>
    </div>
  )
}
