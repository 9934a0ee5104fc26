/** The content of a message of any kind. */

import { useMutation } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import type { Message, Poll } from '../../api/sandbox.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/form.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Wrong } from '../../ui/states.tsx'
import { useActing } from './acting.ts'
import { Attachment } from './attachment.tsx'
import { InvoiceCard, PaidMedia } from './pay.tsx'
import { RichBlocks } from './rich-blocks.tsx'
import { Outside, RichText } from './rich-text.tsx'

interface PlaceProps {
  readonly location: NonNullable<Message['location']>
  readonly venue: Message['venue']
}

/** A place in a message, with the way to a map of it. */
function Place({ location: { latitude, longitude }, venue }: PlaceProps) {
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=15/${latitude}/${longitude}`
  return (
    <span className="place">
      <Icon name="pin" />
      <span className="grow">
        {venue && (
          <span className="block" dir="auto">
            <span className="label">{venue.title}</span>{' '}
            <span className="quiet small">{venue.address}</span>
          </span>
        )}
        <Outside address={map} className="ltr small">
          {`${latitude}, ${longitude}`}
        </Outside>
      </span>
    </span>
  )
}

type Beside = NonNullable<Poll['media']>

interface PollProps {
  readonly message: Message
  readonly poll: Poll
  vote(options: readonly number[]): void
}

/** The options with their places; in an order that is the same each time a poll with shuffled ones is shown. */
function ordered(poll: Poll) {
  const options = poll.options.map((option, place) => ({ ...option, place }))
  if (!poll.shuffle_options) return options
  const rank = (place: number) => ((Number(poll.id) + place + 1) * 2_654_435_761) % 4_294_967_296
  return options.toSorted((a, b) => rank(a.place) - rank(b.place))
}

/** What belongs to a part of a poll. */
function PollMedia({ media: { media, location, venue, url } }: { readonly media: Beside }) {
  if (media) return <Attachment media={media} />
  if (location) return <Place location={location} venue={venue} />
  if (url === undefined) return null
  return (
    <Outside address={url} className="ltr small">
      {url}
    </Outside>
  )
}

/** Why an answer of a quiz is right. */
function Explanation({ explanation, explanation_media: media }: Poll) {
  const t = useT()
  if (explanation === undefined && !media) return null
  return (
    <details>
      <summary className="small">{t('messenger.explanation')}</summary>
      {media && <PollMedia media={media} />}
      {explanation && <span dir="auto">{explanation}</span>}
    </details>
  )
}

/** A poll to vote in. */
function PollContent({ message, poll, vote }: PollProps) {
  const t = useT()
  const { api } = useActing()
  const { number, share } = useFormats()
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  const choose = (place: number) => {
    if (!poll.allows_multiple_answers) return vote([place])
    const next = new Set(chosen)
    if (!next.delete(place)) next.add(place)
    setChosen(next)
  }
  const isHidden = poll.hide_results_until_closes && !poll.is_closed
  return (
    <div className="stack tight poll">
      <strong dir="auto">{poll.question}</strong>
      {poll.media && <PollMedia media={poll.media} />}
      {poll.description && <span dir="auto">{poll.description}</span>}
      {ordered(poll).map(({ text, media, voter_count, place }) => (
        <Fragment key={place}>
          {media && <PollMedia media={media} />}
          <Button
            size="slim"
            disabled={poll.is_closed}
            {...(poll.allows_multiple_answers && { 'aria-pressed': chosen.has(place) })}
            onClick={() => choose(place)}
          >
            <span className="grow">{text}</span>
            <span className="quiet number">
              {isHidden
                ? '·'
                : `${number(voter_count)} · ${share(voter_count, poll.total_voter_count)}`}
            </span>
          </Button>
        </Fragment>
      ))}
      <Explanation {...poll} />
      {poll.allows_multiple_answers && !poll.is_closed && (
        <Button kind="first" size="slim" onClick={() => vote([...chosen])}>
          {t('messenger.vote')}
        </Button>
      )}
      <span className="quiet tiny">
        {poll.is_closed
          ? t('messenger.pollOver')
          : isHidden
            ? t('messenger.votesHidden')
            : t.count('messenger.votes', poll.total_voter_count)}
      </span>
      {poll.allow_adding_options && !poll.is_closed && (
        <NewLine
          label={t('messenger.option')}
          submit={t('messenger.addOption')}
          add={(text) => api.addOption(message, text)}
        />
      )}
    </div>
  )
}

interface ChecklistProps {
  readonly message: Message
  readonly checklist: NonNullable<Message['checklist']>
  mark(done: readonly number[], undone: readonly number[]): void
}

/** Tasks to mark as done. */
function ChecklistContent({ message, checklist, mark }: ChecklistProps) {
  const { title, tasks, others_can_add_tasks: isOpen } = checklist
  const t = useT()
  const { api, person } = useActing()
  return (
    <div className="stack tight poll">
      <strong dir="auto">{title}</strong>
      {tasks.map(({ id, text, done_by }) => (
        <Button
          key={id}
          size="slim"
          aria-pressed={done_by !== undefined}
          onClick={() => (done_by ? mark([], [id]) : mark([id], []))}
        >
          <span className="grow">{text}</span>
          <span className="quiet">{done_by ? `☑ ${done_by.first_name}` : '☐'}</span>
        </Button>
      ))}
      {(isOpen || message.from?.id === person.id) && (
        <NewLine
          label={t('giving.task')}
          submit={t('giving.addTask')}
          add={(text) => api.addTask(message, text)}
        />
      )}
    </div>
  )
}

interface NewLineProps {
  readonly label: string
  /** What the button does. */
  readonly submit: string
  add(text: string): Promise<unknown>
}

/** A field for one more task of a checklist, or option of a poll. */
function NewLine({ label, submit, add }: NewLineProps) {
  const [text, setText] = useState('')
  const adding = useMutation({
    mutationFn: () => add(text.trim()),
    onSuccess: () => setText(''),
  })
  return (
    <Form by={adding} isReady={text.trim() !== ''} className="row">
      <input
        className="input grow"
        aria-label={label}
        placeholder={label}
        maxLength={100}
        dir="auto"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" size="slim" icon="plus" aria-label={submit} busy={adding.isPending} />
      <Wrong cause={adding.error} />
    </Form>
  )
}

/** The pictures of the effects that everybody may use. */
const effects = new Map([
  ['5104841245755180586', '🔥'],
  ['5107584321108051014', '👍'],
  ['5104858069142078462', '👎'],
  ['5044134455711629726', '❤'],
  ['5046509860389126442', '🎉'],
  ['5046589136895476101', '💩'],
])

/** The effect that a message came with. */
export function EffectMark({ id }: { readonly id: string }) {
  const name = useT()('messenger.effect')
  return (
    <span role="img" aria-label={name} title={name}>
      {effects.get(id) ?? '✨'}
    </span>
  )
}

/** A game and its scores; a button below starts it. */
const GameContent = ({ game }: { readonly game: NonNullable<Message['game']> }) => (
  <div className="stack tight" dir="auto">
    {game.photo && <Attachment media={game.photo} />}
    <strong>{game.title}</strong>
    {game.text && <span className="text">{game.text}</span>}
  </div>
)

interface ContentProps {
  readonly message: Message
  mark(done: readonly number[], undone: readonly number[]): void
  vote(options: readonly number[]): void
}

export function Content({ message, vote, mark }: ContentProps) {
  const t = useT()
  const { text, entities, media, caption, caption_entities } = message
  const { location, venue, contact, poll, dice, service } = message
  if (message.rich) return <RichBlocks rich={message.rich} />
  if (text !== undefined) return <RichText text={text} entities={entities} />
  if (service !== undefined) return <em>{t.word('messenger.service', service)}</em>
  if (media) {
    return (
      <>
        <Attachment media={media} />
        {caption && <RichText text={caption} entities={caption_entities} />}
      </>
    )
  }
  if (message.paid_media) {
    return (
      <>
        <PaidMedia message={message} paid={message.paid_media} />
        {caption && <RichText text={caption} entities={caption_entities} />}
      </>
    )
  }
  if (message.invoice) return <InvoiceCard message={message} invoice={message.invoice} />
  if (message.checklist)
    return <ChecklistContent message={message} checklist={message.checklist} mark={mark} />
  if (message.game) return <GameContent game={message.game} />
  if (poll) return <PollContent message={message} poll={poll} vote={vote} />
  if (dice) return <span className="dice">{`${dice.emoji} ${dice.value}`}</span>
  if (contact) return <span dir="auto">{`${contact.first_name} · ${contact.phone_number}`}</span>
  if (location) return <Place location={location} venue={venue} />
  return <em className="quiet">{t('messenger.unsupported')}</em>
}

type Shown = Pick<
  Message,
  | 'text'
  | 'caption'
  | 'media'
  | 'paid_media'
  | 'checklist'
  | 'game'
  | 'poll'
  | 'dice'
  | 'contact'
  | 'location'
  | 'venue'
  | 'invoice'
  | 'payment'
  | 'web_app_data'
> & { readonly service?: string }

/** One line of it, for lists and quotations. */
export function useSummary(): (shown: Shown) => string {
  const t = useT()
  const { money } = useFormats()
  return (shown) => {
    const { payment, game } = shown
    const { text, caption, media, checklist, service, poll, dice, contact, location, venue } = shown
    if (shown.web_app_data) return t('messenger.appData', shown.web_app_data)
    if (text !== undefined) return text
    if (payment && (service === 'paid' || service === 'refunded')) {
      return t(`messenger.${service}`, { sum: money(payment.total_amount, payment.currency) })
    }
    if (service !== undefined) return t.word('messenger.service', service)
    if (media) {
      return (
        caption || (media.live ? t('messenger.livePhoto') : t.word('messenger.kind', media.type))
      )
    }
    if (shown.paid_media) return caption || t('messenger.paidMedia')
    if (shown.invoice) return shown.invoice.title
    if (checklist) return checklist.title
    if (game) return game.title
    if (poll) return poll.question
    if (dice) return dice.emoji
    if (contact) return contact.first_name
    if (venue) return venue.title
    return location ? t('messenger.place') : t('messenger.unsupported')
  }
}
