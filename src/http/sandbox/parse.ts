/** Request bodies under /sandbox as the content, buttons and reactions of the model. */
import { Readable } from 'node:stream'
import type { Static, TSchema } from 'typebox'
import type { Buttons } from '../../../machines/model/buttons.ts'
import type { Content, Reaction } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Location } from '../../../machines/model/location.ts'
import type { Media, MediaKind } from '../../../machines/model/media.ts'
import {
  isPage,
  OPTION_MEDIA,
  POLL_MEDIA,
  type Poll,
  type PollMedia,
} from '../../../machines/model/poll.ts'
import type { Quote, Text, TextEntity } from '../../../machines/model/text.ts'
import type { Ingestion, Source } from '../../media/media.ts'
import type { Network } from '../../sandbox/sandbox.ts'
import type { GivenPoll, GivenPollMedia } from './content-schemas.ts'
import type * as keyboards from './keyboard-schemas.ts'
import { present } from './present.ts'
import type * as wire from './schemas.ts'

type Given = {
  readonly [Name in keyof typeof wire.givenContent]?:
    | ((typeof wire.givenContent)[Name] extends TSchema
        ? Static<(typeof wire.givenContent)[Name]>
        : never)
    | undefined
}
type GivenMedia = Static<typeof wire.GivenMedia>

export type IngestMedia = (given: GivenMedia) => Promise<Media>

export const mediaIngester =
  (files: Network['files'], userId: number, signal: AbortSignal): IngestMedia =>
  async (given) => {
    const { type: kind, file, emoji } = given
    if (file !== undefined) return { kind, file: { native: file } }
    const { media } = await files.ingest(ingestionOf(given, userId), signal)
    return emoji === undefined ? media : { ...media, emoji }
  }

/** Resolves with several contents for an album, else with one. Rejects with `bad_request` where the body has none or two. */
export async function contentsOf(given: Given, ingest: IngestMedia): Promise<Content[]> {
  const { text, entities, media, album, location, venue, contact, poll, dice } = given
  const all: Content[] = [
    ...(text === undefined ? [] : [{ kind: 'text' as const, ...textOf(text, entities) }]),
    ...(location
      ? [{ kind: 'location' as const, ...locationOf(location), ...(venue && { venue }) }]
      : []),
    ...(contact ? [contactOf(contact)] : []),
    ...(dice ? [{ kind: 'dice' as const, emoji: dice.emoji, value: 0 }] : []),
  ]
  const files = media ? [media] : (album ?? [])
  const later = (files.length > 0 ? 1 : 0) + (poll ? 1 : 0)
  if (all.length + later !== 1 || (media && album)) {
    throw failed('bad_request', 'a message carries one thing: text, media, album, location …')
  }
  for (const item of files) all.push(await mediaContent(item, ingest))
  if (poll) all.push({ kind: 'poll', poll: await pollOf(poll, ingest) })
  return all
}

export async function mediaContent(
  given: GivenMedia,
  ingest: IngestMedia,
): Promise<Content & { kind: 'media' }> {
  return {
    kind: 'media',
    media: await ingest(given),
    caption: textOf(given.caption ?? '', given.caption_entities),
    ...(given.show_caption_above_media && { captionAbove: true }),
    ...(given.has_spoiler && { spoiler: true }),
  }
}

function ingestionOf(given: GivenMedia, userId: number): Ingestion {
  const { type: kind, file_name, mime_type, duration, width, height, title, performer } = given
  return {
    userId,
    kind,
    source: sourceOf(given),
    ...present({ name: file_name, mime: mime_type }),
    hints: present({ durationSeconds: duration, width, height, title, performer }),
  }
}

function sourceOf({ data, url }: GivenMedia): Source {
  if (url !== undefined) return { from: 'url', url }
  if (data === undefined) throw failed('bad_request', 'media needs "data", "url" or "file"')
  const bytes = Buffer.from(data, 'base64')
  return { from: 'stream', stream: Readable.from(bytes.length > 0 ? [bytes] : []) }
}

export const textOf = (text: string, entities: Given['entities'] = []): Text => ({
  text,
  entities: entities.map(entityOf),
})

export const quoteOf = ({ text, entities, position }: Static<typeof wire.QuoteBody>): Quote => ({
  ...textOf(text, entities),
  position,
})

export const locationOf = (given: Static<typeof wire.LocationBody>): Location => ({
  latitude: given.latitude,
  longitude: given.longitude,
  ...present({
    accuracy: given.horizontal_accuracy,
    liveSeconds: given.live_period,
    heading: given.heading,
    alertDistance: given.proximity_alert_radius,
  }),
})

const contactOf = (given: Static<typeof wire.ContactBody>): Content => ({
  kind: 'contact',
  phone: given.phone_number,
  firstName: given.first_name,
  ...present({
    lastName: given.last_name,
    vcard: given.vcard,
    person: given.user_id === undefined ? undefined : String(given.user_id),
  }),
})

const plain = (text: string): Text => ({ text, entities: [] })

async function pollOf(given: Static<typeof GivenPoll>, ingest: IngestMedia): Promise<Poll> {
  const isQuiz = given.type === 'quiz'
  const right = given.correct_option_ids ?? []
  if (isQuiz && (right.length === 0 || right.some((place) => place >= given.options.length))) {
    throw failed('bad_request', 'wrong correct option identifier specified')
  }
  if (given.allow_adding_options && (isQuiz || given.is_anonymous)) {
    throw failed('bad_request', "options can't be added to anonymous polls and quizzes")
  }
  const media = await pollMediaOf(given.media, POLL_MEDIA, ingest)
  const explained = isQuiz ? given.explanation_media : undefined
  const explanationMedia = await pollMediaOf(explained, POLL_MEDIA, ingest)
  return {
    question: plain(given.question),
    options: await optionsOf(given.options, ingest),
    voters: 0,
    isClosed: false,
    isAnonymous: given.is_anonymous,
    isQuiz,
    isMultiple: given.allows_multiple_answers,
    ...(isQuiz && { right }),
    ...(given.allow_adding_options && { isOpenToOptions: true }),
    ...(given.shuffle_options && { isShuffled: true }),
    ...(given.hide_results_until_closes && { hidesResults: true }),
    ...(given.description && { description: plain(given.description) }),
    ...(media && { media }),
    ...(explanationMedia && { explanationMedia }),
    ...present({
      explanation: given.explanation === undefined ? undefined : plain(given.explanation),
      openSeconds: given.open_period,
      isRevotable: given.allows_revoting,
    }),
  }
}

async function optionsOf(
  given: Static<typeof GivenPoll>['options'],
  ingest: IngestMedia,
): Promise<Poll['options']> {
  const options: Poll['options'][number][] = []
  for (const option of given) {
    const { text, media = undefined } = typeof option === 'string' ? { text: option } : option
    const own = await pollMediaOf(media, OPTION_MEDIA, ingest)
    options.push({ text: plain(text), voters: 0, ...(own && { media: own }) })
  }
  return options
}

/** Rejects with `bad_request` where the part of a poll has none or two, or what such a part cannot have. */
async function pollMediaOf(
  given: Static<typeof GivenPollMedia> | undefined,
  kinds: readonly MediaKind[],
  ingest: IngestMedia,
): Promise<PollMedia | undefined> {
  if (!given) return undefined
  const { media, location, venue, url } = given
  const named = [media, location, url].filter((one) => one !== undefined)
  if (named.length !== 1 || (venue && !location)) {
    throw failed('bad_request', 'a part of a poll has one thing: media, location or url')
  }
  if (location) return { kind: 'location', ...locationOf(location), ...(venue && { venue }) }
  if (media) {
    const file = await ingest(media)
    if (kinds.includes(file.kind)) return { kind: 'media', media: file }
  } else if (url !== undefined && kinds === OPTION_MEDIA) {
    if (!isPage(url)) throw failed('bad_request', 'WEBPAGE_URL_INVALID')
    return { kind: 'link', url }
  }
  throw failed('bad_request', "can't use the media of the specified type in the poll")
}

export function reactionOf({
  emoji,
  custom_emoji_id: customEmojiId,
}: Static<typeof wire.ReactionBody>): Reaction {
  if (emoji !== undefined) return { emoji }
  if (customEmojiId !== undefined) return { customEmojiId }
  throw failed('bad_request', 'REACTION_INVALID')
}

const entityOf = ({
  custom_emoji_id,
  user_id,
  unix_time,
  date_time_format,
  ...entity
}: Static<typeof wire.Entity>): TextEntity => ({
  ...entity,
  ...present({
    customEmojiId: custom_emoji_id,
    person: user_id === undefined ? null : String(user_id),
    unixTime: unix_time,
    timeFormat: date_time_format,
  }),
})

/** A button without URL and data sends its own text, because a press without data would say nothing. */
export const buttonsOf = (keyboard: Static<typeof keyboards.Keyboard>): Buttons =>
  keyboard.map((row) =>
    row.map(({ text, callback_data, url }) =>
      url !== undefined ? { text, url } : { text, data: callback_data ?? text },
    ),
  )
