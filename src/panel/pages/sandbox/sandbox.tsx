/** /dashboard/sandbox: the built-in messenger, to talk with one's bot as the people it serves. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { isGone } from '../../api/failure.ts'
import { peopleQuery } from '../../api/sandbox.ts'
import type { Person } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'
import { EmptySandbox } from './empty.tsx'
import { Messenger } from './messenger.tsx'
import { NewPersonDialog } from './new-person.tsx'
import { Who } from './who.tsx'
import './messages.css'
import './sandbox.css'

export function SandboxPage() {
  const t = useT()
  const people = useQuery(peopleQuery)
  const [query, setQuery] = useSearchParams()
  const all = sorted(people.data?.items ?? [])
  const person = actingOf(all, Number(query.get('as')))
  const choose = (id: number) => setQuery({ as: `${id}` })
  const isOff = isGone(people.error)
  return (
    <Page
      title={t('messenger.title')}
      lead={t('messenger.lead')}
      actions={
        person && (
          <>
            <Who person={person} people={all} onChoose={choose} />
            <EmptySandbox />
          </>
        )
      }
    >
      {isOff ? (
        <Empty icon="flask" title={t('messenger.off')}>
          {t('messenger.offText')}
        </Empty>
      ) : people.isError && !people.data ? (
        <Failed cause={people.error} retry={() => people.refetch()} />
      ) : !people.data ? (
        <Loading lines={6} />
      ) : person ? (
        <Messenger key={person.id} person={person} people={all} />
      ) : (
        <Nobody onMade={({ id }) => choose(id)} />
      )}
    </Page>
  )
}

/** The network itself, which writes the codes, is nobody to act as or to write to. */
const NETWORK = 777_000

/** Linked accounts first: they are whom one wants to talk with. */
const sorted = (people: readonly Person[]) =>
  people
    .filter(({ id }) => id !== NETWORK)
    .sort((a, b) => Number(b.linked_sessions > 0) - Number(a.linked_sessions > 0))

/** As oneself one is not the bot. */
const actingOf = (people: readonly Person[], wanted: number) =>
  people.find(({ id }) => id === wanted) ??
  people.find(({ linked_sessions, deactivated }) => linked_sessions === 0 && !deactivated) ??
  people[0]

function Nobody({ onMade }: { onMade(person: Person): void }) {
  const t = useT()
  const [isMaking, setMaking] = useState(false)
  return (
    <>
      <Empty
        icon="accounts"
        title={t('people.none')}
        action={
          <Button kind="first" onClick={() => setMaking(true)}>
            {t('people.make')}
          </Button>
        }
      >
        {t('people.noneText')}
      </Empty>
      {isMaking && <NewPersonDialog onMade={onMade} onClose={() => setMaking(false)} />}
    </>
  )
}
