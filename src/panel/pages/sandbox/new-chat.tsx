/** Begins a chat with somebody, or makes a group or a channel. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createGroup, groupsQuery, type NewGroup } from '../../api/sandbox.ts'
import type { Person } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { useReason } from '../../ui/states.tsx'
import { handlesOf, personName } from './names.tsx'

interface NewChatProps {
  readonly person: Person
  /** Linked accounts come first: these are the bots. */
  readonly people: readonly Person[]
  onOpen(chat: number): void
  onClose(): void
}

const kinds = ['private', 'group', 'supergroup', 'channel'] as const

export function NewChatDialog({ person, people, onOpen, onClose }: NewChatProps) {
  const t = useT()
  const [kind, setKind] = useState<(typeof kinds)[number]>('private')
  const others = people.filter(({ id, deactivated }) => id !== person.id && !deactivated)
  return (
    <Dialog title={t('messenger.newChat')} open onClose={onClose}>
      <Choice
        label={t('messenger.newKind')}
        value={kind}
        options={kinds.map((one) => [one, t(`messenger.type.${one}`)])}
        onChange={(next) => setKind(kinds.find((one) => one === next) ?? 'private')}
      />
      {kind === 'private' ? (
        <>
          <ul className="records pick">
            {others.map((one) => (
              <li key={one.id}>
                <button type="button" className="record" onClick={() => onOpen(one.id)}>
                  <span className="grow clip">
                    <span className="label" dir="auto">
                      {personName(one)}
                    </span>{' '}
                    <span className="quiet small ltr">{handlesOf(one)}</span>
                  </span>
                  {one.linked_sessions > 0 && <Badge tone="good">{t('messenger.linked')}</Badge>}
                </button>
              </li>
            ))}
            {others.length === 0 && <li className="quiet small">{t('people.alone')}</li>}
          </ul>
          <div className="actions">
            <Button onClick={onClose}>{t('cancel')}</Button>
          </div>
        </>
      ) : (
        <GroupForm
          kind={kind}
          owner={person.id}
          others={others}
          onMade={onOpen}
          onClose={onClose}
        />
      )}
    </Dialog>
  )
}

interface GroupFormProps {
  readonly kind: NewGroup['kind']
  readonly owner: number
  readonly others: readonly Person[]
  onMade(chat: number): void
  onClose(): void
}

function GroupForm({ kind, owner, others, onMade, onClose }: GroupFormProps) {
  const t = useT()
  const reason = useReason()
  const queries = useQueryClient()
  const [title, setTitle] = useState('')
  const [members, setMembers] = useState<ReadonlySet<number>>(new Set())
  const making = useMutation({
    mutationFn: () => createGroup({ kind, title: title.trim(), owner, members: [...members] }),
    async onSuccess({ id }) {
      await queries.invalidateQueries(groupsQuery)
      onMade(id)
    },
  })
  const choose = (id: number) => {
    const next = new Set(members)
    if (!next.delete(id)) next.add(id)
    setMembers(next)
  }
  return (
    <Form by={making}>
      <Field
        label={t('messenger.groupTitle')}
        required
        maxLength={128}
        autoComplete="off"
        value={title}
        wrong={making.error ? reason(making.error) : undefined}
        onChange={(event) => setTitle(event.target.value)}
      />
      <fieldset className="pick stack tight">
        <legend className="label">{t('members.title')}</legend>
        {others.map((one) => (
          <label key={one.id} className="choice">
            <input type="checkbox" checked={members.has(one.id)} onChange={() => choose(one.id)} />
            <span dir="auto">{personName(one)}</span>
            {one.linked_sessions > 0 && <Badge tone="good">{t('messenger.linked')}</Badge>}
          </label>
        ))}
      </fieldset>
      <div className="actions">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button type="submit" kind="first" busy={making.isPending}>
          {t('messenger.make')}
        </Button>
      </div>
    </Form>
  )
}
