/** The possessions of the person one acts as: a photo, gifts, subscriptions, requests to join, communities, stories, delegates. */
import {
  type QueryFunction,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import {
  groupsQuery,
  type JoinRequest,
  type Person,
  peopleQuery,
  personApi,
  profileOf,
} from '../../api/sandbox.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Loading, Wrong } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { GiftPicture } from './about.tsx'
import { ActingContext } from './acting.ts'
import { Attachment } from './attachment.tsx'
import { Bots, Business } from './delegates.tsx'
import { JoinDialog } from './links.tsx'
import { Face, handlesOf, personName } from './names.tsx'
import { Communities } from './new-chat.tsx'
import { RichText } from './rich-text.tsx'
import { base64 } from './sending/files.ts'
import { WebAppDialog } from './web-app.tsx'

interface OwnDialogProps {
  readonly person: Person
  readonly people: readonly Person[]
  open(chat: number): void
  onClose(): void
}

const parts = {
  gifts: Gifts,
  subscriptions: Subscriptions,
  joining: Joining,
  communities: Communities,
  stories: Stories,
  business: Business,
  bots: Bots,
}
const names = [
  'gifts',
  'subscriptions',
  'joining',
  'communities',
  'stories',
  'business',
  'bots',
] as const

export function OwnDialog({ person, people, open, onClose }: OwnDialogProps) {
  const t = useT()
  const [tab, setTab] = useState<(typeof names)[number]>('gifts')
  const api = useMemo(() => personApi(person.id), [person.id])
  const Part = parts[tab]
  return (
    <ActingContext value={{ person, people, chats: [], api, open }}>
      <Dialog title={t('own.of', { name: personName(person) })} open wide onClose={onClose}>
        <Photo person={person} />
        <Tabs
          label={t('own.of', { name: personName(person) })}
          value={tab}
          tabs={names.map((name) => [name, t(`own.${name}`)])}
          onChange={(next) => setTab(names.find((name) => name === next) ?? 'gifts')}
        >
          <Part person={person} people={people} />
        </Tabs>
        <div className="actions">
          <Button onClick={onClose}>{t('close')}</Button>
        </div>
      </Dialog>
    </ActingContext>
  )
}

interface PartProps {
  readonly person: Person
  readonly people: readonly Person[]
}

/** A list of a person's possessions that is read again after each change. */
function useOwn<Data>(person: Person, name: string, queryFn: QueryFunction<Data>, every?: number) {
  const queries = useQueryClient()
  const own = useQuery({
    queryKey: ['sandbox', 'own', person.id, name],
    queryFn,
    staleTime: 0,
    ...(every !== undefined && { refetchInterval: every }),
  })
  const changing = useMutation({
    mutationFn: (change: () => Promise<unknown>) => change(),
    onSuccess: () =>
      Promise.all(
        [['sandbox', 'own', person.id], peopleQuery.queryKey, groupsQuery.queryKey].map(
          (queryKey) => queries.invalidateQueries({ queryKey }),
        ),
      ),
  })
  return { own, changing }
}

interface ListProps<Item> {
  readonly own: UseQueryResult<readonly Item[]>
  readonly none: string
  readonly row: (item: Item) => ReactNode
}

function List<Item>({ own, none, row }: ListProps<Item>) {
  if (own.isPending) return <Loading lines={2} />
  return (
    <>
      {own.data?.length === 0 && <p className="quiet">{none}</p>}
      <ul className="records">{own.data?.map(row)}</ul>
      <Wrong cause={own.error} />
    </>
  )
}

function Photo({ person }: Pick<PartProps, 'person'>) {
  const t = useT()
  const picker = useRef<HTMLInputElement>(null)
  const queries = useQueryClient()
  const changing = useMutation({
    mutationFn: async (file: File) => profileOf(person.id).setPhoto(await base64(file)),
    onSuccess: () => queries.invalidateQueries({ queryKey: peopleQuery.queryKey }),
  })
  return (
    <div className="row">
      <Face name={personName(person)} type="private" photo={person.photo} />
      <span className="grow quiet small ltr">{handlesOf(person)}</span>
      <Button icon="image" busy={changing.isPending} onClick={() => picker.current?.click()}>
        {t('own.photo')}
      </Button>
      <input
        ref={picker}
        type="file"
        accept="image/jpeg,image/png,image/webp"
        hidden
        aria-label={t('own.photo')}
        onChange={(event) => {
          const [file] = event.target.files ?? []
          if (file) changing.mutate(file)
          event.target.value = ''
        }}
      />
      <Wrong cause={changing.error} />
    </div>
  )
}

function Gifts({ person }: PartProps) {
  const t = useT()
  const { day, money } = useFormats()
  const profile = profileOf(person.id)
  const { own, changing } = useOwn(person, 'gifts', profile.gifts)
  return (
    <>
      <List
        own={own}
        none={t('gifts.nothing')}
        row={({ owned_gift_id: id, gift, sender, date, text, convert_star_count: worth }) => (
          <li key={id} className="record">
            <GiftPicture gift={gift} />
            <span className="grow">
              {sender && <bdi className="label">{personName(sender)}</bdi>}{' '}
              <span className="quiet small">{day(date * 1000)}</span>
              {text && (
                <span className="block" dir="auto">
                  {text}
                </span>
              )}
            </span>
            {worth !== undefined && (
              <Button
                size="slim"
                disabled={changing.isPending}
                onClick={() => changing.mutate(() => profile.convertGift(id))}
              >
                {t('gifts.convert', { sum: money(worth, 'XTR') })}
              </Button>
            )}
          </li>
        )}
      />
      <Wrong cause={changing.error} />
    </>
  )
}

function Subscriptions({ person }: PartProps) {
  const t = useT()
  const { day, money } = useFormats()
  const profile = profileOf(person.id)
  const { own, changing } = useOwn(person, 'subscriptions', profile.subscriptions)
  return (
    <>
      <List
        own={own}
        none={t('subscriptions.none')}
        row={({ title, star_count, expires_at, charge_id: charge, is_canceled }) => (
          <li key={`${charge} ${title} ${expires_at}`} className="record">
            <span className="grow">
              <bdi className="label">{title}</bdi>{' '}
              <span className="quiet small">
                {money(star_count, 'XTR')} ·{' '}
                {t(is_canceled ? 'subscriptions.ends' : 'subscriptions.renews', {
                  day: day(expires_at),
                })}
              </span>
            </span>
            {charge !== undefined && (
              <Button
                size="slim"
                disabled={changing.isPending}
                onClick={() =>
                  changing.mutate(() => profile.changeSubscription(charge, !is_canceled))
                }
              >
                {t(is_canceled ? 'subscriptions.resume' : 'subscriptions.cancel')}
              </Button>
            )}
          </li>
        )}
      />
      <Wrong cause={changing.error} />
    </>
  )
}

function Joining({ person }: PartProps) {
  const t = useT()
  const toast = useToast()
  const [way, setWay] = useState('')
  const [link, look] = useState<string>()
  const { changing } = useOwn(person, 'requests', profileOf(person.id).joinRequests)
  const follow = () => {
    if (!way.trim().startsWith('@')) return look(way.trim())
    changing.mutate(async () => {
      const { membership } = await profileOf(person.id).follow(way.trim())
      toast(t(`joining.${membership}`))
      setWay('')
    })
  }
  return (
    <>
      <Form by={{ isPending: changing.isPending, mutate: follow }} isReady={way.trim() !== ''}>
        <Field
          label={t('joining.way')}
          hint={t('joining.hint')}
          className="ltr"
          required
          maxLength={200}
          autoComplete="off"
          value={way}
          onChange={(event) => setWay(event.target.value)}
        />
        <Wrong cause={changing.error} />
        <Button type="submit" kind="first" busy={changing.isPending}>
          {t('joining.join')}
        </Button>
      </Form>
      {link !== undefined && <JoinDialog link={link} onClose={() => look(undefined)} />}
      <Requests person={person} />
    </>
  )
}

const LOOK_AGAIN_MS = 3_000

/** The chats that the person has asked to join. The bot of one may show a web app meanwhile. */
function Requests({ person }: Pick<PartProps, 'person'>) {
  const t = useT()
  const { day } = useFormats()
  const [shown, show] = useState<JoinRequest>()
  const { own } = useOwn(person, 'requests', profileOf(person.id).joinRequests, LOOK_AGAIN_MS)
  return (
    <>
      <List
        own={own}
        none={t('joining.none')}
        row={(request) => (
          <li key={request.chat.id} className="record">
            <span className="grow">
              <bdi className="label">{request.chat.title}</bdi>{' '}
              <span className="quiet small">
                {t('joining.since', { day: day(request.date * 1000) })}
              </span>
            </span>
            {request.web_app_url !== undefined && (
              <Button size="slim" onClick={() => show(request)}>
                {t('joining.app')}
              </Button>
            )}
          </li>
        )}
      />
      {shown?.bot !== undefined && shown.web_app_url !== undefined && (
        <WebAppDialog
          bot={{ id: shown.bot }}
          chat={shown.bot}
          url={shown.web_app_url}
          onClose={() => show(undefined)}
        />
      )}
    </>
  )
}

function Stories({ person }: PartProps) {
  const t = useT()
  const { moment } = useFormats()
  const { own } = useOwn(person, 'stories', profileOf(person.id).stories)
  return (
    <List
      own={own}
      none={t('stories.none')}
      row={({
        person: author,
        story_id,
        media,
        caption,
        caption_entities,
        expires_at,
        is_kept,
      }) => (
        <li key={`${author.id} ${story_id}`} className="record">
          {media && <Attachment media={media} />}
          <span className="grow">
            <bdi className="label">{personName(author)}</bdi>{' '}
            {!is_kept && (
              <span className="quiet small">
                {t('stories.until', { moment: moment(expires_at) })}
              </span>
            )}
            {caption && <RichText text={caption} entities={caption_entities} />}
          </span>
        </li>
      )}
    />
  )
}
