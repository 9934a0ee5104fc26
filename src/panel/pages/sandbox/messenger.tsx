/** The messenger of one person: the chats on one side, the open one on the other. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { groupsQuery } from '../../api/sandbox.ts'
import type { Person } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'
import { ChatList } from './chat-list.tsx'
import { ChatWindow } from './chat-window.tsx'
import { chatsOf, conversationsOf, privateChat } from './conversations.ts'
import { NewChatDialog } from './new-chat.tsx'
import { useInbox } from './use-inbox.ts'

export interface MessengerProps {
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
          back={() => show()}
        />
      ) : (
        <div className="window nothing">
          <Empty
            icon="send"
            title={t('messenger.choose')}
            action={
              <Button kind="first" onClick={() => setChoosing(true)}>
                {t('messenger.newChat')}
              </Button>
            }
          >
            {t('messenger.chooseText')}
          </Empty>
        </div>
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
