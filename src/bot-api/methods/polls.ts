/** Methods about polls: sending one, and stopping it. */

import { badRequest } from '../../../machines/model/failure.ts'
import type { Location } from '../../../machines/model/location.ts'
import type { Media, MediaKind } from '../../../machines/model/media.ts'
import {
  isPage,
  OPTION_MEDIA,
  POLL_MEDIA,
  type Poll,
  type PollMedia,
} from '../../../machines/model/poll.ts'
import type { Text } from '../../../machines/model/text.ts'
import { Arguments } from '../arguments.ts'
import { livePhotoOf, mediaOf } from '../media.ts'
import { type Call, type Method, result } from '../method.ts'
import { changeParameters, send, sendParameters, targetOf } from '../sending.ts'
import { pollTextOf } from '../text.ts'
import { locationOf, venueOf } from './structured.ts'

const OPTIONS = { min: 1, max: 12 }
const LENGTH = { question: 300, option: 100, explanation: 200 }
const MOST_COUNTRIES = 12

const sendPoll: Method = {
  name: 'sendPoll',
  summary: 'Asks a question with answers to choose from',
  scope: 'bot:send',
  operation: 'send',
  content: 'poll',
  sends: true,
  parameters: {
    ...sendParameters,
    question: 'string',
    question_parse_mode: 'string',
    question_entities: 'json',
    options: 'json',
    is_anonymous: 'boolean',
    type: 'string',
    allows_multiple_answers: 'boolean',
    allows_revoting: 'boolean',
    shuffle_options: 'boolean',
    allow_adding_options: 'boolean',
    hide_results_until_closes: 'boolean',
    members_only: 'boolean',
    country_codes: 'json',
    correct_option_ids: 'json',
    correct_option_id: 'integer',
    explanation: 'string',
    explanation_parse_mode: 'string',
    explanation_entities: 'json',
    explanation_media: 'json',
    open_period: 'integer',
    close_date: 'integer',
    is_closed: 'boolean',
    description: 'string',
    description_parse_mode: 'string',
    description_entities: 'json',
    media: 'json',
  },
  required: ['chat_id', 'question', 'options'],
  run: async (call) => {
    const poll = pollOf(call.args)
    return result(
      await send(call, async () => ({ kind: 'poll', poll: await withMedia(call, poll) })),
    )
  },
}

const stopPoll: Method = {
  name: 'stopPoll',
  summary: 'Ends the voting of a poll',
  scope: 'bot:send',
  operation: 'stop_poll',
  parameters: changeParameters,
  required: ['chat_id', 'message_id'],
  run: async (call) => result(await call.perform({ kind: 'stop_poll', ...targetOf(call) })),
}

function pollOf(args: Arguments): Poll {
  const asked = pollTextOf(args, 'question')
  // Parsed before anything is looked into, as in the reference: it is refused first.
  const given = optionsOf(args)
  const question = atMost(asked, LENGTH.question, 'question')
  if (question.text === '') throw badRequest('text must be non-empty')
  const options = fitting(given)
  const type = args.text('type') ?? 'regular'
  if (type !== 'quiz' && type !== 'regular') throw badRequest('unsupported poll type specified')
  const isQuiz = type === 'quiz'
  const openSeconds = args.integer('open_period', { min: 0, max: 2_628_000 })
  const closesAt = args.integer('close_date', { min: 0, max: 2 ** 31 - 1 })
  const explanation = atMost(pollTextOf(args, 'explanation'), LENGTH.explanation, 'explanation')
  const description = pollTextOf(args, 'description')
  const isAnonymous = !args.has('is_anonymous') || args.boolean('is_anonymous')
  return {
    question,
    options: options.map((text) => ({ text, voters: 0 })),
    voters: 0,
    isClosed: args.boolean('is_closed'),
    isAnonymous,
    isQuiz,
    isMultiple: args.boolean('allows_multiple_answers'),
    ...(isQuiz && { right: rightOf(args, options.length) }),
    ...(isQuiz && explanation.text && { explanation }),
    ...(description.text && { description }),
    ...votingOf(args, { isAnonymous, isQuiz }),
    ...(openSeconds > 0 && { openSeconds }),
    ...(openSeconds === 0 && closesAt > 0 && { closesAt }),
  }
}

/** The rules of a poll: who may vote, how often, and who sees the votes. */
function votingOf(
  args: Arguments,
  { isAnonymous, isQuiz }: Pick<Poll, 'isAnonymous' | 'isQuiz'>,
): Partial<Poll> {
  const isOpenToOptions = args.boolean('allow_adding_options')
  if (isOpenToOptions && isAnonymous) throw badRequest("options can't be added to anonymous polls")
  if (isOpenToOptions && isQuiz) throw badRequest("options can't be added to quizzes")
  const countries = countriesOf(args)
  return {
    ...(args.has('allows_revoting') && { isRevotable: args.boolean('allows_revoting') }),
    ...(isOpenToOptions && { isOpenToOptions }),
    ...(args.boolean('shuffle_options') && { isShuffled: true }),
    ...(args.boolean('hide_results_until_closes') && { hidesResults: true }),
    ...(args.boolean('members_only') && { isForMembers: true }),
    ...(countries.length > 0 && { countries }),
  }
}

function countriesOf(args: Arguments): readonly string[] {
  if (!args.has('country_codes')) return []
  const given = args.list('country_codes', 'country_codes', 'String')
  if (given.length > MOST_COUNTRIES) throw badRequest('too many country codes specified')
  const isCode = (code: unknown): code is string =>
    typeof code === 'string' && /^[A-Z]{2}$/.test(code)
  if (!given.every(isCode)) throw badRequest('invalid country code specified')
  return [...new Set(given)]
}

function optionsOf(args: Arguments): Text[] {
  return args.list('options', 'options', 'String as options').map(optionText)
}

function fitting(given: readonly Text[]): Text[] {
  if (given.length < OPTIONS.min) throw badRequest('poll must have at least one answer option')
  if (given.length > OPTIONS.max) {
    throw badRequest(`poll can't have more than ${OPTIONS.max} answer options`)
  }
  return given.map((option) => {
    const text = atMost(option, LENGTH.option, 'option')
    if (text.text === '') throw badRequest('poll option text must be non-empty')
    return text
  })
}

function optionText(option: unknown): Text {
  if (typeof option === 'string') return pollTextOf(new Arguments([['text', option]]), 'text')
  if (typeof option === 'object' && option !== null && 'text' in option) {
    return pollTextOf(Arguments.from(option), 'text')
  }
  throw badRequest('can\'t parse poll option: Can\'t find field "text"')
}

type MediaType = MediaKind | 'live_photo' | 'location' | 'venue' | 'link'

const EVERYWHERE = ['live_photo', 'location', 'venue'] as const
/** Media that a description or an explanation may have. */
const BESIDE: readonly MediaType[] = [...EVERYWHERE, ...POLL_MEDIA]
const IN_OPTIONS: readonly MediaType[] = [...EVERYWHERE, ...OPTION_MEDIA, 'link']

/** The poll with what belongs to its description, its explanation and its options. */
async function withMedia(call: Call, poll: Poll): Promise<Poll> {
  const { args } = call
  const read = (name: string) => {
    const value = args.has(name) ? args.parsed(name, 'InputPollMedia JSON object') : null
    return value === null ? undefined : pollMediaOf(call, value, BESIDE)
  }
  const media = await read('media')
  const explanationMedia = poll.isQuiz && (await read('explanation_media'))
  const given = args.json('options') as readonly { readonly media?: unknown }[]
  const options: Poll['options'][number][] = []
  for (const [place, option] of poll.options.entries()) {
    const value = given[place]?.media
    const own = value != null && { media: await pollMediaOf(call, value, IN_OPTIONS) }
    options.push({ ...option, ...own })
  }
  return {
    ...poll,
    options,
    ...(media && { media }),
    ...(explanationMedia && { explanationMedia }),
  }
}

async function pollMediaOf(
  call: Call,
  value: unknown,
  types: readonly MediaType[],
): Promise<PollMedia> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest("can't parse InputPollMedia: expected an Object")
  }
  const item = Arguments.from(value)
  const given = item.text('type')
  if (given === undefined) throw badRequest('can\'t parse InputPollMedia: can\'t find field "type"')
  const type = types.find((known) => known === given.toLowerCase())
  switch (type) {
    case undefined:
      throw badRequest(`can't parse InputPollMedia: type "${given}" can't be used here`)
    case 'link':
      return { kind: 'link', url: linkOf(item) }
    case 'location':
      return { kind: 'location', ...placeOf(item) }
    case 'venue':
      return { kind: 'location', ...placeOf(item), venue: venueOf(item) }
    default:
      return { kind: 'media', media: await fileOf(call, item, type, types) }
  }
}

/** A place in a poll stands still. */
function placeOf(item: Arguments): Location {
  const { latitude, longitude, accuracy } = locationOf(item)
  return { latitude, longitude, ...(accuracy !== undefined && { accuracy }) }
}

async function fileOf(
  call: Call,
  item: Arguments,
  type: MediaKind | 'live_photo',
  types: readonly MediaType[],
): Promise<Media> {
  if (!item.has('media')) throw badRequest("can't parse InputPollMedia: media not found")
  if (type === 'live_photo') return livePhotoOf(call, 'media', item)
  const media = await mediaOf(call, type, 'media', item)
  // A file may be of another kind than it was called.
  if (!types.includes(media.kind))
    throw badRequest("can't use the media of the specified type in the poll")
  return media
}

function linkOf(item: Arguments): string {
  const url = item.text('url') ?? ''
  if (!isPage(url)) throw badRequest('WEBPAGE_URL_INVALID')
  return url
}

function rightOf(args: Arguments, options: number): readonly number[] {
  const several = 'correct_option_ids'
  const single = args.has('correct_option_id')
    ? [args.integer('correct_option_id', { min: -1, max: options })]
    : []
  const what = 'correct option identifiers'
  const right = args.has(several) ? args.list(several, what, what) : single
  if (right.some((place) => typeof place !== 'number'))
    throw badRequest('correct option identifier must be of type Number')
  const isRight = (place: unknown): place is number =>
    Number.isInteger(place) && Number(place) >= 0 && Number(place) < options
  if (right.length === 0 || !right.every(isRight)) {
    throw badRequest('wrong correct option identifier specified')
  }
  return right
}

function atMost(text: Text, length: number, name: string): Text {
  if ([...text.text].length > length)
    throw badRequest(`poll ${name} length must not exceed ${length}`)
  return text
}

export const pollMethods = [sendPoll, stopPoll]
