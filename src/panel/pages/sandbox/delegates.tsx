/** Delegates of a person: accounts with rights in their private chats, and the bots that the person has made. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type BusinessConnection, type Person, peopleQuery, profileOf } from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Copied } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Toggle } from '../../ui/figure.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Loading, Wrong } from '../../ui/states.tsx'
import { personName } from './names.tsx'

interface DelegatesProps {
  readonly person: Person
  readonly people: readonly Person[]
}

type Right = BusinessConnection['rights'][number]

/** All of them: the compiler names one that is missing. */
const rights: Readonly<Record<Right, true>> = {
  reply: true,
  read_messages: true,
  delete_sent_messages: true,
  delete_all_messages: true,
  edit_name: true,
  edit_bio: true,
  edit_profile_photo: true,
  edit_username: true,
  change_gift_settings: true,
  view_gifts_and_stars: true,
  convert_gifts_to_stars: true,
  transfer_and_upgrade_gifts: true,
  transfer_stars: true,
  manage_stories: true,
}
const all = Object.keys(rights) as Right[]
const first: readonly Right[] = ['reply', 'read_messages']

const accountsBeside = (person: Person, people: readonly Person[]) =>
  people.filter(({ id, linked_sessions }) => linked_sessions > 0 && id !== person.id)

/** The accounts that may act for the person, each with its rights. */
export function Business({ person, people }: DelegatesProps) {
  const t = useT()
  const queries = useQueryClient()
  const profile = profileOf(person.id)
  const queryKey = ['sandbox', 'own', person.id, 'business']
  const found = useQuery({ queryKey, queryFn: profile.business, staleTime: 0 })
  const changing = useMutation({
    mutationFn: (change: () => Promise<unknown>) => change(),
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  })
  const accounts = accountsBeside(person, people)
  if (found.isPending) return <Loading lines={2} />
  return (
    <>
      {accounts.length === 0 && <p className="quiet">{t('business.none')}</p>}
      {accounts.map((account) => (
        <Connection
          key={account.id}
          account={account}
          granted={found.data?.find((one) => one.account === account.id && one.is_enabled)?.rights}
          busy={changing.isPending}
          grant={(given) => changing.mutate(() => profile.connect(account.id, given))}
          end={() => changing.mutate(() => profile.disconnect(account.id))}
        />
      ))}
      <Wrong cause={found.error ?? changing.error} />
    </>
  )
}

interface ConnectionProps {
  readonly account: Person
  /** Absent where the account does not act for the person. */
  readonly granted: readonly Right[] | undefined
  readonly busy: boolean
  grant(given: readonly Right[]): void
  end(): void
}

function Connection({ account, granted, busy, grant, end }: ConnectionProps) {
  const t = useT()
  const toggle = (right: Right) =>
    grant(all.filter((one) => (one === right) !== (granted?.includes(one) ?? false)))
  return (
    <section className="stack tight" aria-label={personName(account)}>
      <Toggle
        label={t('business.acts', { name: personName(account) })}
        hint={t('business.hint')}
        on={granted !== undefined}
        disabled={busy}
        onChange={(on) => (on ? grant(first) : end())}
      />
      {granted && (
        <fieldset className="rights">
          <legend className="quiet small">{t('business.rights')}</legend>
          {all.map((right) => (
            <label key={right} className="choice">
              <input
                type="checkbox"
                disabled={busy}
                checked={granted.includes(right)}
                onChange={() => toggle(right)}
              />
              <span>{t(`business.right.${right}`)}</span>
            </label>
          ))}
        </fieldset>
      )}
    </section>
  )
}

/** The bots that the person has made for accounts that manage them, each with the key that links it. */
export function Bots({ person, people }: DelegatesProps) {
  const t = useT()
  const queries = useQueryClient()
  const [isMaking, setMaking] = useState(false)
  const profile = profileOf(person.id)
  const queryKey = ['sandbox', 'own', person.id, 'bots']
  const found = useQuery({ queryKey, queryFn: profile.bots, staleTime: 0 })
  const replacing = useMutation({
    mutationFn: profile.replaceToken,
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  })
  const managers = accountsBeside(person, people)
  return (
    <>
      {found.isPending && <Loading lines={2} />}
      {found.data?.length === 0 && <p className="quiet">{t('bots.none')}</p>}
      {found.data?.map(({ bot, manager, token }) => (
        <section key={bot.id} className="stack tight" aria-label={personName(bot)}>
          <div className="row spread">
            <span>
              <bdi className="label">{personName(bot)}</bdi>{' '}
              <span className="quiet small">
                {t('bots.managed', { name: personName(manager) })}
              </span>
            </span>
            <Button
              size="slim"
              disabled={replacing.isPending}
              onClick={() => replacing.mutate(bot.id)}
            >
              {t('bots.replace')}
            </Button>
          </div>
          <Copied text={token} />
        </section>
      ))}
      <Wrong cause={found.error ?? replacing.error} />
      {managers.length > 0 && (
        <Button icon="plus" onClick={() => setMaking(true)}>
          {t('bots.make')}
        </Button>
      )}
      {isMaking && (
        <NewBotDialog person={person} managers={managers} onClose={() => setMaking(false)} />
      )}
    </>
  )
}

interface NewBotProps {
  readonly person: Person
  readonly managers: readonly Person[]
  /** The id of the key that asks for a bot. */
  readonly request?: number
  onClose(): void
}

export function NewBotDialog({ person, managers, request, onClose }: NewBotProps) {
  const t = useT()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [username, setUsername] = useState('')
  const [manager, setManager] = useState(`${managers[0]?.id}`)
  const making = useMutation({
    mutationFn: () =>
      profileOf(person.id).makeBot({
        manager: Number(manager),
        first_name: name.trim(),
        username: username.trim(),
        ...(request !== undefined && { request_id: request }),
      }),
    onSuccess() {
      queries.invalidateQueries({ queryKey: ['sandbox', 'own', person.id] })
      queries.invalidateQueries({ queryKey: peopleQuery.queryKey })
      onClose()
    },
  })
  return (
    <Dialog title={t('bots.make')} open onClose={onClose}>
      <Form by={making}>
        {managers.length > 1 && (
          <Choice
            label={t('bots.manager')}
            value={manager}
            options={managers.map((one) => [`${one.id}`, personName(one)])}
            onChange={setManager}
          />
        )}
        <Field
          label={t('people.name')}
          required
          maxLength={64}
          dir="auto"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label={t('bots.username')}
          hint={t('bots.usernameHint')}
          className="ltr"
          required
          pattern="[A-Za-z][A-Za-z0-9_]*[bB][oO][tT]"
          maxLength={32}
          value={username}
          onChange={(event) => setUsername(event.target.value)}
        />
        <Wrong cause={making.error} />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={making.isPending}>
            {t('bots.make')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
