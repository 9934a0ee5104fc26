/** The other side of a chat: who a person is, who is in a group, and what one gives them: gifts and boosts. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Chat,
  type Gift,
  type GivenRights,
  type Group,
  giftsQuery,
  groupsQuery,
  type Person,
  peopleQuery,
  profileOf,
  type Role,
  removeMember,
  setRole,
} from '../../api/sandbox.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Loading, Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { runs, useActing } from './acting.ts'
import { isPicture, Picture } from './attachment.tsx'
import { OpenRequests } from './links.tsx'
import { chatName, Face, handlesOf, personName } from './names.tsx'
import { PickRightsDialog } from './pick.tsx'
import { NewGift } from './sending/give.tsx'

interface AboutProps {
  readonly person: Person
  readonly chat: Chat
  /** The person or the group that the chat is with. */
  readonly about: Person | Group
  onClose(): void
}

export function AboutDialog({ person, chat, about, onClose }: AboutProps) {
  const t = useT()
  const name = chatName(chat)
  const canHaveGifts = chat.type === 'private' || chat.type === 'channel'
  const canBeBoosted = chat.type === 'supergroup' || chat.type === 'channel'
  return (
    <Dialog title={t('profile.about', { name })} open onClose={onClose}>
      <div className="row">
        <Face name={name} type={chat.type} photo={about.photo} />
        <div className="grow">
          {'phone' in about && (
            <div className="quiet small">
              <span className="ltr">{handlesOf(about)}</span>
            </div>
          )}
          {'description' in about && <div dir="auto">{about.description}</div>}
          {about.verification && (
            <div className="small">
              {t('profile.verified', { words: about.verification.description })}
            </div>
          )}
        </div>
      </div>
      {'members' in about && chat.type === 'channel' && (
        <DirectMessages person={person} channel={about} />
      )}
      {canHaveGifts && <GiveGift person={person} to={chat.id} />}
      {canHaveGifts && <NewGift />}
      {canBeBoosted && <Boosts person={person} chat={chat.id} />}
      <div className="actions">
        <Button onClick={onClose}>{t('close')}</Button>
      </div>
    </Dialog>
  )
}

interface DirectMessagesProps {
  readonly person: Person
  readonly channel: Group
}

/** The way to the direct messages of a channel; its administrators find theirs among the chats. */
function DirectMessages({ person, channel }: DirectMessagesProps) {
  const t = useT()
  const queries = useQueryClient()
  const { open } = useActing()
  const opening = useMutation({
    mutationFn: () => profileOf(person.id).openDirectMessages(channel.id),
    async onSuccess({ id }) {
      await queries.invalidateQueries(groupsQuery)
      open(id)
    },
  })
  if (runs(channel, person)) return null
  return (
    <>
      <Button icon="send" busy={opening.isPending} onClick={() => opening.mutate()}>
        {t('messenger.direct')}
      </Button>
      <Wrong cause={opening.error} />
    </>
  )
}

interface GiveGiftProps {
  readonly person: Person
  readonly to: number
}

function GiveGift({ person, to }: GiveGiftProps) {
  const t = useT()
  const toast = useToast()
  const queries = useQueryClient()
  const { money } = useFormats()
  const gifts = useQuery(giftsQuery)
  const [text, setText] = useState('')
  const [chosen, choose] = useState<Gift>()
  const giving = useMutation({
    mutationFn: async () => chosen && profileOf(person.id).giveGift(to, chosen.id, text),
    onSuccess() {
      toast(t('gifts.given'))
      setText('')
      queries.invalidateQueries({ queryKey: giftsQuery.queryKey })
      queries.invalidateQueries({ queryKey: peopleQuery.queryKey })
    },
  })
  if (gifts.isPending) return <Loading lines={2} />
  return (
    <Form by={giving} isReady={chosen !== undefined}>
      <fieldset className="pick">
        <legend className="label">{t('gifts.give')}</legend>
        {gifts.data?.length === 0 && <p className="quiet small">{t('gifts.none')}</p>}
        {gifts.data?.map((gift) => (
          <label key={gift.id} className="record">
            <input
              type="radio"
              name="gift"
              checked={chosen?.id === gift.id}
              onChange={() => choose(gift)}
            />
            <GiftPicture gift={gift} />
            <span className="grow">{money(gift.star_count, 'XTR')}</span>
            {gift.remaining_count !== undefined && (
              <span className="quiet small">
                {t('gifts.left', { count: gift.remaining_count, of: gift.total_count ?? 0 })}
              </span>
            )}
          </label>
        ))}
      </fieldset>
      {chosen && (
        <>
          <Field
            label={t('gifts.words')}
            maxLength={128}
            dir="auto"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" kind="first" busy={giving.isPending}>
            {t('gifts.giveFor', { sum: money(chosen.star_count, 'XTR') })}
          </Button>
        </>
      )}
      <Wrong cause={gifts.error ?? giving.error} />
    </Form>
  )
}

export const GiftPicture = ({ gift: { sticker } }: { readonly gift: Gift }) => (
  <span className="gift" aria-hidden="true">
    {isPicture(sticker) ? <Picture media={sticker} /> : (sticker.emoji ?? '🎁')}
  </span>
)

interface BoostsProps {
  readonly person: Person
  readonly chat: number
}

function Boosts({ person, chat }: BoostsProps) {
  const t = useT()
  const queries = useQueryClient()
  const { day } = useFormats()
  const profile = profileOf(person.id)
  const queryKey = ['sandbox', 'own', person.id, 'boosts', chat]
  const boosts = useQuery({ queryKey, queryFn: () => profile.boosts(chat), staleTime: 0 })
  const changing = useMutation({
    mutationFn: (change: () => Promise<unknown>) => change(),
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  })
  return (
    <section className="stack tight" aria-label={t('boosts.title')}>
      <h3 className="label">{t('boosts.title')}</h3>
      {boosts.data?.length === 0 && <p className="quiet small">{t('boosts.none')}</p>}
      {boosts.data?.map(({ boost_id, expiration_date }) => (
        <div key={boost_id} className="row spread">
          <span>{t('boosts.until', { day: day(expiration_date * 1000) })}</span>
          <Button
            size="slim"
            onClick={() => changing.mutate(() => profile.takeBoost(chat, boost_id))}
          >
            {t('boosts.take')}
          </Button>
        </div>
      ))}
      <Wrong cause={boosts.error ?? changing.error} />
      <Button
        icon="bolt"
        busy={changing.isPending}
        onClick={() => changing.mutate(() => profile.boost(chat))}
      >
        {t('boosts.give')}
      </Button>
    </section>
  )
}

interface MembersProps {
  readonly group: Group
  readonly person: Person
  readonly people: readonly Person[]
  onClose(): void
}

const roles = ['owner', 'admin', 'member'] as const

/** Lets people into a group or channel, makes them administrators, takes them out. */
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
            group={group}
            change={(...role) =>
              changing.mutateAsync(() => setRole(group.id, member.person.id, ...role))
            }
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
      {runs(group, person) && group.type === 'supergroup' && (
        <SlowMode person={person} group={group} />
      )}
      {runs(group, person) && <OpenRequests person={person} chat={group.id} />}
      <div className="actions">
        <Button onClick={onClose}>{t('close')}</Button>
      </div>
    </Dialog>
  )
}

interface SlowModeProps {
  readonly person: Person
  readonly group: Group
}

const delays = [0, 5, 10, 30, 60, 300, 900, 3600]

/** How long ordinary members wait between two messages. */
function SlowMode({ person, group }: SlowModeProps) {
  const t = useT()
  const queries = useQueryClient()
  const changing = useMutation({
    mutationFn: (seconds: number) => profileOf(person.id).slowDown(group.id, seconds),
    onSuccess: () => queries.invalidateQueries(groupsQuery),
  })
  return (
    <>
      <Choice
        label={t('members.slow')}
        value={`${group.slow_mode_delay ?? 0}`}
        options={delays.map((seconds) => [
          `${seconds}`,
          seconds === 0 ? t('members.slow.off') : t.count('members.slow.seconds', seconds),
        ])}
        onChange={(seconds) => changing.mutate(Number(seconds))}
      />
      <Wrong cause={changing.error} />
    </>
  )
}

interface MemberRowProps {
  readonly member: Group['members'][number]
  readonly isYou: boolean
  readonly group: Group
  change(role: Role, given?: GivenRights): Promise<unknown>
  remove(): void
}

function MemberRow({ member, isYou, group, change, remove }: MemberRowProps) {
  const t = useT()
  const [isPromoting, setPromoting] = useState(false)
  const mark = member.title ?? member.tag
  return (
    <li className="record">
      <span className="grow label clip">
        <bdi>{personName(member.person)}</bdi>
        {isYou && ` (${t('messenger.you')})`}
        {mark && (
          <>
            {' '}
            <Badge tone="idle">{mark}</Badge>
          </>
        )}
      </span>
      <Choice
        label={t('members.role', { name: personName(member.person) })}
        hidesLabel
        value={member.role}
        options={roles.map((role) => [role, t(`members.role.${role}`)])}
        onChange={(role) => {
          if (role === 'admin') setPromoting(true)
          // The dialog says what went wrong.
          else change(role as Role).catch(() => undefined)
        }}
      />
      {isPromoting && (
        <PickRightsDialog
          chat={group}
          person={member.person}
          pick={(given) => change('admin', given)}
          onClose={() => setPromoting(false)}
        />
      )}
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
