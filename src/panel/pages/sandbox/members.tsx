/** Who is in a group or channel: let somebody in, make them an administrator, take them out. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { groupsQuery, removeMember, setRole } from '../../api/sandbox.ts'
import type { Group, Person, Role } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice } from '../../ui/form.tsx'
import { Wrong } from '../../ui/states.tsx'
import { personName } from './names.tsx'

interface MembersProps {
  readonly group: Group
  readonly person: Person
  readonly people: readonly Person[]
  onClose(): void
}

const roles = ['owner', 'admin', 'member'] as const

export function Members({ group, person, people, onClose }: MembersProps) {
  const t = useT()
  const queries = useQueryClient()
  const inside = new Set(group.members.map((member) => member.person.id))
  const outside = people.filter(({ id, deactivated }) => !inside.has(id) && !deactivated)
  const [chosen, setChosen] = useState('')
  const newcomer = Number(chosen) || outside[0]?.id
  const changing = useMutation({
    mutationFn: (change: () => Promise<Group>) => change(),
    onSuccess: () => queries.invalidateQueries(groupsQuery),
  })
  return (
    <Dialog title={t('members.title')} open onClose={onClose}>
      <ul className="records">
        {group.members.map((member) => (
          <MemberRow
            key={member.person.id}
            member={member}
            isYou={member.person.id === person.id}
            change={(role) => changing.mutate(() => setRole(group.id, member.person.id, role))}
            remove={() => changing.mutate(() => removeMember(group.id, member.person.id))}
          />
        ))}
      </ul>
      {newcomer !== undefined && outside.length > 0 && (
        <div className="row">
          <Choice
            label={t('members.who')}
            hidesLabel
            value={`${newcomer}`}
            options={outside.map((one) => [`${one.id}`, personName(one)])}
            onChange={setChosen}
          />
          <Button
            icon="plus"
            busy={changing.isPending}
            onClick={() => {
              setChosen('')
              changing.mutate(() => setRole(group.id, newcomer, 'member'))
            }}
          >
            {t('members.add')}
          </Button>
        </div>
      )}
      <Wrong cause={changing.error} />
      <div className="actions">
        <Button onClick={onClose}>{t('close')}</Button>
      </div>
    </Dialog>
  )
}

interface MemberRowProps {
  readonly member: Group['members'][number]
  readonly isYou: boolean
  change(role: Role): void
  remove(): void
}

function MemberRow({ member, isYou, change, remove }: MemberRowProps) {
  const t = useT()
  return (
    <li className="record">
      <span className="grow label clip">
        <bdi>{personName(member.person)}</bdi>
        {isYou && ` (${t('messenger.you')})`}
      </span>
      <Choice
        label={t('members.role', { name: personName(member.person) })}
        hidesLabel
        value={member.role}
        options={roles.map((role) => [role, t(`members.role.${role}`)])}
        onChange={(role) => change(role as Role)}
      />
      <Button
        kind="bare"
        size="slim"
        icon="cross"
        aria-label={t('members.remove', { name: personName(member.person) })}
        onClick={remove}
      />
    </li>
  )
}
