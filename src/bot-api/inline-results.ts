/** Parses what a bot offers in inline mode: results of every type, and the messages that they become. */

import type { Content } from '../../machines/model/content.ts'
import { badRequest, RequestFailed } from '../../machines/model/failure.ts'
import type { MediaKind } from '../../machines/model/media.ts'
import type { InlineButton, InlineResult, WebMedia } from '../../machines/model/operation-inline.ts'
import { Arguments } from './arguments.ts'
import { buttonsOf } from './markup.ts'
import { knownMedia } from './media.ts'
import type { Call } from './method.ts'
import { gameOf } from './methods/games.ts'
import { invoiceOf } from './methods/payments.ts'
import { contactOf, locationOf, venueContentOf } from './methods/structured.ts'
import { capitalized, captionOf, previewOf, textOf } from './text.ts'

const RESULTS = 50
const ID_BYTES = 64

const missing = (name: string) => badRequest(`Can't find field "${name}"`)

interface MediaType {
  readonly kind: MediaKind
  /** How the fields of the file begin: `photo_url`, `photo_file_id`, `photo_width` … */
  readonly field: string
  readonly needsTitle?: true
  readonly needsMime?: true
}

const MEDIA: Readonly<Record<string, MediaType>> = {
  photo: { kind: 'photo', field: 'photo' },
  gif: { kind: 'animation', field: 'gif' },
  mpeg4_gif: { kind: 'animation', field: 'mpeg4' },
  video: { kind: 'video', field: 'video', needsTitle: true, needsMime: true },
  audio: { kind: 'audio', field: 'audio' },
  voice: { kind: 'voice', field: 'voice', needsTitle: true },
  document: { kind: 'document', field: 'document', needsTitle: true, needsMime: true },
  sticker: { kind: 'sticker', field: 'sticker' },
}

/** Types whose result is no file, with the fields that they need. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  article: ['title'],
  game: ['game_short_name'],
  contact: ['phone_number', 'first_name'],
  location: ['latitude', 'longitude', 'title'],
  venue: ['latitude', 'longitude', 'title', 'address'],
}

/** `results` of answerInlineQuery. */
export function inlineResultsOf(call: Call): InlineResult[] {
  if (!call.args.has('results')) return []
  const given = call.args.parsed('results', 'JSON encoded inline query results')
  if (given === null) return []
  if (!Array.isArray(given)) throw badRequest('expected an Array of inline query results')
  if (given.length > RESULTS) throw badRequest('too many inline query results specified')
  const results = given.map((value: unknown) => {
    try {
      return inlineResult(call, value)
    } catch (cause) {
      throw explained(cause)
    }
  })
  results.forEach(assertId)
  if (new Set(results.map(({ id }) => id)).size < results.length)
    throw badRequest('RESULT_ID_DUPLICATE')
  return results
}

/** `result` of methods that take one alone. */
export function inlineResultOf(call: Call): InlineResult {
  if (!call.args.has('result')) throw badRequest("result isn't specified")
  const given = call.args.parsed('result', 'JSON encoded web view query results')
  const result = inlineResult(call, given)
  assertId(result)
  return result
}

function assertId({ id }: InlineResult): void {
  if (Buffer.byteLength(id) > ID_BYTES) throw badRequest('RESULT_ID_INVALID')
}

function explained(cause: unknown): unknown {
  const isRefused = cause instanceof RequestFailed && cause.failure.code === 'bad_request'
  if (!isRefused) return cause
  return badRequest(`can't parse inline query result: ${capitalized(cause.failure.description)}`)
}

function inlineResult(call: Call, value: unknown): InlineResult {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('inline query result must be an object')
  }
  const item = Arguments.from(value)
  const type = required(item, 'type').toLowerCase()
  const id = required(item, 'id')
  const media = Object.hasOwn(MEDIA, type) ? MEDIA[type] : undefined
  const needed = Object.hasOwn(OTHERS, type) ? OTHERS[type] : undefined
  if (!media && !needed)
    throw badRequest(`type "${type}" is unsupported for the inline query result`)
  for (const name of needed ?? []) required(item, name)
  const own = media ? mediaOf(call, media, item) : plainOf(type, item)
  const content = messageOf(item, type === 'article') ?? own
  if (!content) throw badRequest('Input message content is not specified')
  const buttons = buttonsOf(item, call.platform)
  return {
    id,
    type,
    content,
    ...(buttons?.length && { buttons }),
    ...named({
      title: item.text('title'),
      description: item.text('description'),
      url: item.boolean('hide_url') ? undefined : item.text('url'),
      thumbnailUrl: item.text('thumbnail_url') ?? item.text('thumb_url'),
    }),
  }
}

const named = (fields: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function required(item: Arguments, name: string): string {
  const value = item.text(name)
  if (value === undefined) throw missing(name)
  return value
}

/** The file that the result is: known already, or to be fetched. */
function mediaOf(
  call: Call,
  { kind, field, needsTitle, needsMime }: MediaType,
  item: Arguments,
): Content | WebMedia {
  const url = kind === 'sticker' ? undefined : item.text(`${field}_url`)
  if (needsTitle || (kind === 'audio' && url !== undefined)) required(item, 'title')
  if (needsMime && url !== undefined) required(item, 'mime_type')
  const caption = kind === 'sticker' ? { text: '', entities: [] } : captionOf(item)
  const above = item.boolean('show_caption_above_media') && { captionAbove: true }
  if (url === undefined) {
    const media = knownMedia(call, kind, required(item, `${field}_file_id`))
    return { kind: 'media', media, caption, ...above }
  }
  const mime = item.text('mime_type')
  const hints = hintsOf(kind, field, item)
  return { kind: 'web_media', media: kind, url, caption, ...above, hints, ...(mime && { mime }) }
}

function hintsOf(kind: MediaKind, field: string, item: Arguments): WebMedia['hints'] {
  const number = (name: string) => item.integer(`${field}_${name}`, { min: 0, max: 86_400 })
  const [durationSeconds, width, height] = [number('duration'), number('width'), number('height')]
  const song = kind === 'audio' && named({ title: item.text('title') })
  const artist = kind === 'audio' && named({ performer: item.text('performer') })
  return {
    ...(durationSeconds > 0 && { durationSeconds }),
    ...(width > 0 && { width }),
    ...(height > 0 && { height }),
    ...song,
    ...artist,
  }
}

/** The message of a result that is not a file. */
function plainOf(type: string, item: Arguments): Content | undefined {
  if (type === 'contact') return contactOf(item)
  if (type === 'game') return { kind: 'game', game: gameOf(item) }
  if (type === 'venue') return venueContentOf(item)
  return type === 'location' ? { kind: 'location', ...locationOf(item) } : undefined
}

/** `input_message_content`, or the text that older libraries write beside it. */
function messageOf(item: Arguments, isRequired: boolean): Content | undefined {
  if (!item.has('input_message_content')) return plainTextOf(item)
  const value = item.json('input_message_content')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('Field "input_message_content" must be of type Object')
  }
  const given = Arguments.from(value)
  const text = plainTextOf(given)
  if (text) return text
  if (given.has('latitude') && given.has('longitude')) {
    const isVenue = given.has('title') && given.has('address')
    return isVenue ? venueContentOf(given) : { kind: 'location', ...locationOf(given) }
  }
  if (given.has('phone_number')) {
    required(given, 'first_name')
    return contactOf(given)
  }
  if (given.has('payload')) return { kind: 'invoice', invoice: invoiceOf(given) }
  if (given.has('rich_message'))
    throw badRequest('Rich messages are not supported in inline results')
  if (isRequired) throw badRequest('Input message content is not specified')
  return undefined
}

function plainTextOf(given: Arguments): Content | undefined {
  const text = given.text('message_text')
  if (text === undefined) return undefined
  const parts = ['parse_mode', 'entities'].map((name) => [name, given.text(name) ?? ''] as const)
  return { kind: 'text', ...textOf(new Arguments([['text', text], ...parts])), ...previewOf(given) }
}

const START = /^[\w-]{1,64}$/

/** The button above the results; `switch_pm_…` are older names of it. */
export function inlineButtonOf(args: Arguments): InlineButton | undefined {
  if (!args.has('button')) {
    const text = args.text('switch_pm_text')
    return text === undefined ? undefined : startButton(text, args.text('switch_pm_parameter'))
  }
  const name = 'inline query results button'
  const wrong = (problem: string) => badRequest(`can't parse ${name}: ${problem}`)
  const { message } = wrong('InlineQueryResultsButton must be an Object')
  const button = Arguments.from(args.object('button', name, message))
  const text = button.text('text')
  if (text === undefined) throw wrong('Can\'t find field "text"')
  if (button.has('start_parameter')) return startButton(text, button.text('start_parameter'))
  const app = button.json('web_app') as { readonly url?: unknown } | undefined
  if (app === undefined) {
    throw wrong('InlineQueryResultsButton must have exactly one optional field')
  }
  if (typeof app?.url !== 'string') throw wrong('Can\'t find field "url"')
  if (!/^https:\/\/[^\s/]/i.test(app.url)) throw badRequest('BUTTON_URL_INVALID')
  return { text, webApp: app.url }
}

function startButton(text: string, start = ''): InlineButton {
  if (start === '') throw badRequest('START_PARAM_EMPTY')
  if (!START.test(start)) throw badRequest('START_PARAM_INVALID')
  return { text, start }
}
