/** /dashboard/sandbox: the built-in messenger, to talk with one's bot as the people it serves. */
import './messages.css'
import './sandbox.css'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { isGone } from '../../api/failure.ts'
import { emptySandbox, type Person, peopleQuery } from '../../api/sandbox.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Choice } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Failed, Loading, useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { FaultsDialog } from './faults.tsx'
import { Messenger } from './messenger.tsx'
import { handlesOf, personName } from './names.tsx'
import { NewPersonDialog } from './new-person.tsx'
import { OwnDialog } from './own.tsx'

/** Empties the whole sandbox, once its owner is sure. */
export function EmptySandbox() {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const emptying = useMutation({
    mutationFn: emptySandbox,
    onSuccess({ emptied }) {
      toast(t(emptied ? 'messenger.emptied' : 'messenger.emptying'))
      setAsking(false)
      queries.invalidateQueries({ queryKey: ['sandbox'] })
    },
  })
  return (
    <>
      <Button icon="trash" onClick={() => setAsking(true)}>
        {t('messenger.clear')}
      </Button>
      <Confirm
        title={t('messenger.clearTitle')}
        action={t('messenger.clear')}
        open={isAsking}
        busy={emptying.isPending}
        wrong={emptying.error ? reason(emptying.error) : undefined}
        onConfirm={() => emptying.mutate()}
        onClose={() => setAsking(false)}
      >
        {t('messenger.clearText')}
      </Confirm>
    </>
  )
}

export interface WhoProps {
  readonly person: Person
  readonly people: readonly Person[]
  onChoose(person: number): void
  onOpen(chat: number): void
}

/** As whom one acts: the person, another one, and what goes wrong for them. */
export function Who({ person, people, onChoose, onOpen }: WhoProps) {
  const t = useT()
  const { money } = useFormats()
  const [opened, setOpened] = useState<'faults' | 'new' | 'own'>()
  const close = () => setOpened(undefined)
  return (
    <>
      <Choice
        label={t('people.as')}
        hidesLabel
        value={`${person.id}`}
        options={people.map((one) => [
          `${one.id}`,
          one.linked_sessions > 0
            ? `${personName(one)} (${t('messenger.linked')})`
            : personName(one),
        ])}
        onChange={(id) => onChoose(Number(id))}
      />
      <span className="quiet small ltr">{handlesOf(person)}</span>
      <span className="quiet small" title={t('pay.balance')}>
        <span className="unseen">{t('pay.balance')}</span> {money(person.star_balance, 'XTR')}
      </span>
      <Button
        icon="accounts"
        aria-label={t('own.of', { name: personName(person) })}
        onClick={() => setOpened('own')}
      />
      {/* Faults happen to linked accounts: the button of the other one is in the head of the chat. */}
      {person.linked_sessions > 0 && (
        <Button icon="bolt" onClick={() => setOpened('faults')}>
          {t('faults.of', { name: personName(person) })}
        </Button>
      )}
      <Button icon="plus" onClick={() => setOpened('new')}>
        {t('people.make')}
      </Button>
      {opened === 'own' && (
        <OwnDialog person={person} people={people} open={onOpen} onClose={close} />
      )}
      {opened === 'faults' && <FaultsDialog person={person} onClose={close} />}
      {opened === 'new' && (
        <NewPersonDialog
          onClose={close}
          onMade={({ id }) => {
            close()
            onChoose(id)
          }}
        />
      )}
    </>
  )
}

/** As whom one acted is remembered in this browser. */
const ACTING = 'chapar.acting'

export function SandboxPage() {
  const t = useT()
  const people = useQuery(peopleQuery)
  const [query, setQuery] = useSearchParams()
  const all = sorted(people.data?.items ?? [])
  const person = actingOf(all, Number(query.get('as') ?? localStorage.getItem(ACTING)))
  const choose = (id: number) => {
    localStorage.setItem(ACTING, `${id}`)
    setQuery({ as: `${id}` })
  }
  const isOff = isGone(people.error)
  return (
    <Page
      title={t('messenger.title')}
      lead={t('messenger.lead')}
      actions={
        person && (
          <>
            <Who
              person={person}
              people={all}
              onChoose={choose}
              onOpen={(chat) => setQuery({ as: `${person.id}`, chat: `${chat}` })}
            />
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

/** The user can neither act as the network's own account, which sends the codes, nor write to it. */
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
