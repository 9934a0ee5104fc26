/** Begins a chat with a person, makes a group or a channel, and puts such chats together in communities. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Community,
  createGroup,
  groupsQuery,
  type NewGroup,
  type Person,
  profileOf,
} from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Toggle } from '../../ui/figure.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { runs } from './acting.ts'
import { privateChat } from './conversations.ts'
import { chatName, handlesOf, personName } from './names.tsx'

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
  const queries = useQueryClient()
  const [title, setTitle] = useState('')
  const [members, setMembers] = useState<ReadonlySet<number>>(new Set())
  const [hasTopics, setTopics] = useState(false)
  const isForum = kind === 'supergroup' && hasTopics
  const making = useMutation({
    mutationFn: () =>
      createGroup({
        ...{ kind, title: title.trim(), owner, members: [...members] },
        ...(isForum && { is_forum: true }),
      }),
    async onSuccess({ id }) {
      await queries.invalidateQueries(groupsQuery)
      onMade(id)
    },
  })
  return (
    <Form by={making}>
      <Field
        label={t('messenger.groupTitle')}
        required
        maxLength={128}
        autoComplete="off"
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      {kind === 'supergroup' && (
        <Toggle
          label={t('topics.with')}
          hint={t('topics.withHint')}
          on={hasTopics}
          onChange={setTopics}
        />
      )}
      <FirstMembers others={others} members={members} change={setMembers} />
      <Wrong cause={making.error} />
      <div className="actions">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button type="submit" kind="first" busy={making.isPending}>
          {t('messenger.make')}
        </Button>
      </div>
    </Form>
  )
}

interface FirstMembersProps {
  readonly others: readonly Person[]
  readonly members: ReadonlySet<number>
  change(members: ReadonlySet<number>): void
}

function FirstMembers({ others, members, change }: FirstMembersProps) {
  const t = useT()
  const choose = (id: number) => {
    const next = new Set(members)
    if (!next.delete(id)) next.add(id)
    change(next)
  }
  return (
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
  )
}

interface CommunitiesProps {
  readonly person: Person
  readonly people: readonly Person[]
}

/** The communities that a person owns or knows, with the way to make one. */
export function Communities({ person, people }: CommunitiesProps) {
  const t = useT()
  const queries = useQueryClient()
  const profile = profileOf(person.id)
  const queryKey = ['sandbox', 'own', person.id, 'communities']
  const known = useQuery({ queryKey, queryFn: profile.communities, staleTime: 0 })
  const [name, setName] = useState('')
  const changing = useMutation({
    mutationFn: (change: () => Promise<unknown>) => change(),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey }),
        queries.invalidateQueries(groupsQuery),
      ]),
  })
  const make = () =>
    changing.mutate(async () => {
      await profile.makeCommunity(name.trim())
      setName('')
    })
  return (
    <>
      {known.data?.length === 0 && <p className="quiet">{t('communities.none')}</p>}
      {known.data?.map((community) => (
        <CommunityPart
          key={community.id}
          community={community}
          person={person}
          people={people}
          change={changing.mutate}
        />
      ))}
      <Wrong cause={known.error ?? changing.error} />
      <Form by={{ isPending: changing.isPending, mutate: make }} isReady={name.trim() !== ''}>
        <Field
          label={t('communities.name')}
          required
          maxLength={128}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Button type="submit" busy={changing.isPending}>
          {t('communities.make')}
        </Button>
      </Form>
    </>
  )
}

interface CommunityPartProps extends CommunitiesProps {
  readonly community: Community
  change(change: () => Promise<unknown>): void
}

/** The chats and bots of one community. Its owner adds and removes them, others come into its chats. */
function CommunityPart({ community, person, people, change }: CommunityPartProps) {
  const t = useT()
  const toast = useToast()
  const groups = useQuery(groupsQuery)
  const profile = profileOf(person.id)
  const { id, name, is_own: isOwn, chats, bots } = community
  const parts = [...chats, ...bots.map(privateChat)]
  const addable = [
    ...(groups.data?.items ?? []).filter(
      (group) => ['supergroup', 'channel'].includes(group.type) && runs(group, person),
    ),
    ...people.filter((one) => one.linked_sessions > 0).map(privateChat),
  ].filter((one) => !parts.some((part) => part.id === one.id))
  const join = (chat: number) =>
    change(async () => {
      const { membership } = await profile.joinInCommunity(id, chat)
      toast(t(`joining.${membership}`))
    })
  return (
    <section className="stack tight" aria-label={name}>
      <CommunityHead
        community={community}
        isEmpty={parts.length === 0}
        profile={profile}
        change={change}
      />
      <ul className="records">
        {parts.map((one) => (
          <li key={one.id} className="record">
            <bdi className="grow clip">{chatName(one)}</bdi>
            {'is_inside' in one && !one.is_inside && (
              <Button size="slim" onClick={() => join(one.id)}>
                {t('joining.join')}
              </Button>
            )}
            {isOwn && (
              <Button
                kind="bare"
                size="slim"
                icon="cross"
                aria-label={t('members.remove', { name: chatName(one) })}
                onClick={() => change(() => profile.takeFromCommunity(id, one.id))}
              />
            )}
          </li>
        ))}
      </ul>
      {isOwn && addable.length > 0 && (
        <Choice
          label={t('communities.add', { name })}
          value=""
          options={[['', '…'], ...addable.map((one) => [`${one.id}`, chatName(one)] as const)]}
          onChange={(chosen) => {
            if (chosen !== '') change(() => profile.addToCommunity(id, Number(chosen)))
          }}
        />
      )}
    </section>
  )
}

interface CommunityHeadProps extends Pick<CommunityPartProps, 'community' | 'change'> {
  readonly isEmpty: boolean
  readonly profile: ReturnType<typeof profileOf>
}

/** Its name, which the owner changes, and the way to delete it once it is empty. */
function CommunityHead({ community, isEmpty, profile, change }: CommunityHeadProps) {
  const t = useT()
  const [isRenaming, setRenaming] = useState(false)
  const { id, name, is_own: isOwn } = community
  const rename = (next: string) => {
    setRenaming(false)
    change(() => profile.renameCommunity(id, next))
  }
  return (
    <>
      <div className="row">
        <h3 className="label grow">
          <bdi>{name}</bdi>
        </h3>
        {isOwn && (
          <Button
            kind="bare"
            size="slim"
            icon="edit"
            aria-label={t('communities.rename', { name })}
            onClick={() => setRenaming(!isRenaming)}
          />
        )}
        {isOwn && isEmpty && (
          <Button
            kind="bare"
            size="slim"
            icon="trash"
            aria-label={t('communities.delete', { name })}
            onClick={() => change(() => profile.deleteCommunity(id))}
          />
        )}
      </div>
      {isRenaming && <NewName name={name} rename={rename} />}
    </>
  )
}

interface NewNameProps {
  readonly name: string
  rename(name: string): void
}

function NewName({ name, rename }: NewNameProps) {
  const t = useT()
  const [next, setNext] = useState(name)
  const mutate = () => rename(next.trim())
  return (
    <Form by={{ isPending: false, mutate }} isReady={next.trim() !== ''}>
      <Field
        label={t('communities.newName')}
        required
        maxLength={128}
        autoComplete="off"
        value={next}
        onChange={(event) => setNext(event.target.value)}
      />
      <Button type="submit" kind="first">
        {t('save')}
      </Button>
    </Form>
  )
}
