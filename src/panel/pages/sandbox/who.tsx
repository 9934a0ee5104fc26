/** As whom one acts: the person, another one, and what goes wrong for them. */
import { useState } from 'react'
import type { Person } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/field.tsx'
import { FaultsDialog } from './faults.tsx'
import { handlesOf, personName } from './names.ts'
import { NewPersonDialog } from './new-person.tsx'

export interface WhoProps {
  readonly person: Person
  readonly people: readonly Person[]
  onChoose(person: number): void
}

export function Who({ person, people, onChoose }: WhoProps) {
  const t = useT()
  const [opened, setOpened] = useState<'faults' | 'new'>()
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
      <Button
        icon="bolt"
        aria-label={t('faults.of', { name: personName(person) })}
        onClick={() => setOpened('faults')}
      />
      <Button icon="plus" onClick={() => setOpened('new')}>
        {t('people.make')}
      </Button>
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
