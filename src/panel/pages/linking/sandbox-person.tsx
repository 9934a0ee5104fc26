/** Linking in the sandbox: the choice of a person, and the one-time code sent to them. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { type Inbox, type Person, peopleQuery } from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Copied } from '../../ui/copy.tsx'
import { Choice } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed } from '../../ui/states.tsx'
import { personName } from '../sandbox/names.tsx'
import { NewPersonDialog } from '../sandbox/new-person.tsx'

export const SANDBOX = 'sandbox'

/** People who can be linked: neither deleted nor banned. */
const canBeLinked = ({ deactivated, faults }: Person) => !deactivated && !('ban' in faults)

interface PersonPickerProps {
  readonly phone: string
  onChoose(phone: string): void
}

export function PersonPicker({ phone, onChoose }: PersonPickerProps) {
  const t = useT()
  const people = useQuery(peopleQuery)
  const [isMaking, setMaking] = useState(false)
  const all = people.data?.items.filter(canBeLinked) ?? []
  const chosen = all.find((one) => one.phone === phone)?.phone ?? ''
  if (people.isError && !people.data) {
    return <Failed cause={people.error} retry={() => people.refetch()} />
  }
  return (
    <div className="stack tight">
      {all.length > 0 ? (
        <Choice
          label={t('linking.sandbox.person')}
          value={chosen}
          options={[
            ['', t('linking.sandbox.choose')],
            ...all.map((one) => [one.phone, optionOf(one, t('messenger.linked'))] as const),
          ]}
          onChange={onChoose}
        />
      ) : (
        <p className="quiet small">{t('linking.sandbox.nobody')}</p>
      )}
      <div>
        <Button icon="plus" onClick={() => setMaking(true)}>
          {t('people.make')}
        </Button>
      </div>
      {isMaking && (
        <NewPersonDialog
          onClose={() => setMaking(false)}
          onMade={(person) => {
            setMaking(false)
            onChoose(person.phone)
          }}
        />
      )}
    </div>
  )
}

function optionOf(person: Person, linked: string): string {
  const name = `\u2068${personName(person)}\u2069 (\u2066${person.phone}\u2069)`
  return person.linked_sessions > 0 ? `${name} – ${linked}` : name
}

const LOOK_MS = 2_000

/** A link names its phone by the last digits alone: the others are stars. */
const isOf = (shown: string, phone: string) =>
  shown.length === phone.length &&
  [...shown].every((sign, place) => sign === '*' || sign === phone[place])

interface SentCodeProps {
  readonly shown: string | undefined
  /** The whole phone, unless the link was resumed. */
  readonly given: string | null
}

/** Shows the code from the inbox of a person, who belongs to the same user; two may have the same last digits. */
export function SentCode({ shown, given }: SentCodeProps) {
  const t = useT()
  const people = useQuery(peopleQuery)
  const [chosen, setChosen] = useState('')
  const all = people.data?.items.filter(canBeLinked) ?? []
  const alike = all.filter(({ phone }) => shown === undefined || isOf(shown, phone))
  const known =
    alike.find(({ phone }) => phone === given) ?? (alike.length === 1 ? alike[0] : undefined)
  const person = known ?? alike.find(({ phone }) => phone === chosen)
  const inbox = useQuery({
    queryKey: ['sandbox', 'codes', person?.id],
    enabled: person !== undefined,
    queryFn: ({ signal }) =>
      call<Inbox>('GET', `/sandbox/people/${person?.id}/inbox`, { query: { limit: 1 }, signal }),
    refetchInterval: LOOK_MS,
  })
  const code = inbox.data?.codes[0]?.code
  if (alike.length === 0 || (known && code === undefined)) return null
  return (
    <Card title={t('linking.sandbox.code')}>
      {!known && (
        <Choice
          label={t('linking.sandbox.whose')}
          value={chosen}
          options={[
            ['', t('linking.sandbox.chooseOne')],
            ...alike.map((one) => [one.phone, optionOf(one, t('messenger.linked'))] as const),
          ]}
          onChange={setChosen}
        />
      )}
      {person && (
        <p className="quiet small">
          {t(code === undefined ? 'linking.sandbox.noCode' : 'linking.sandbox.codeOf', {
            name: optionOf(person, t('messenger.linked')),
          })}
        </p>
      )}
      {code !== undefined && <Copied text={code} />}
    </Card>
  )
}
