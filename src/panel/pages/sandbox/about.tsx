/** Who the other side of a chat is, and what one can give it: gifts, and boosts to a chat. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { giftsQuery, peopleQuery, profileOf } from '../../api/sandbox.ts'
import type { Chat, Gift, Group, Person } from '../../api/sandbox-types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Loading, Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { isPicture, Picture } from './attachment.tsx'
import { chatName, Face, handlesOf } from './names.tsx'

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
          {'phone' in about && <div className="quiet small ltr">{handlesOf(about)}</div>}
          {'description' in about && <div dir="auto">{about.description}</div>}
          {about.verification && (
            <div className="small">
              {t('profile.verified', { words: about.verification.description })}
            </div>
          )}
        </div>
      </div>
      {canHaveGifts && <GiveGift person={person} to={chat.id} />}
      {canBeBoosted && <Boosts person={person} chat={chat.id} />}
      <div className="actions">
        <Button onClick={onClose}>{t('close')}</Button>
      </div>
    </Dialog>
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
