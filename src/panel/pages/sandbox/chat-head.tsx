/** Who a chat is with, and what there is to set about them. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { groupsQuery } from '../../api/sandbox.ts'
import type { Chat, Person } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { FaultsDialog } from './faults.tsx'
import { Members } from './members.tsx'
import { chatName, handlesOf } from './names.ts'

export interface ChatHeadProps {
  readonly chat: Chat
  readonly person: Person
  readonly people: readonly Person[]
}

export function ChatHead({ chat, person, people }: ChatHeadProps) {
  const t = useT()
  const groups = useQuery(groupsQuery)
  const [isOpen, setOpen] = useState(false)
  const other = chat.type === 'private' ? people.find(({ id }) => id === chat.id) : undefined
  const group = groups.data?.items.find(({ id }) => id === chat.id)
  const faults = Object.keys(other?.faults ?? {}).length
  return (
    <>
      <div className="grow">
        <h2 className="clip">
          <bdi>{chatName(chat)}</bdi>
        </h2>
        <p className="quiet tiny clip">
          {other ? (
            <span className="ltr">{handlesOf(other)}</span>
          ) : (
            <>
              {t.word('messenger.type', chat.type)}
              {group && ` · ${t.count('messenger.members', group.members.length)}`}
            </>
          )}
        </p>
      </div>
      {other && other.linked_sessions > 0 && <Badge tone="good">{t('messenger.linked')}</Badge>}
      {other && (
        <Button size="slim" icon="bolt" onClick={() => setOpen(true)}>
          {faults > 0 ? t.count('faults.on', faults) : t('faults.title')}
        </Button>
      )}
      {group && (
        <Button size="slim" icon="accounts" onClick={() => setOpen(true)}>
          {t('members.title')}
        </Button>
      )}
      {isOpen && other && <FaultsDialog person={other} onClose={() => setOpen(false)} />}
      {isOpen && group && (
        <Members group={group} person={person} people={people} onClose={() => setOpen(false)} />
      )}
    </>
  )
}
