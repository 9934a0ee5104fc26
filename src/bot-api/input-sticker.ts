/** An InputSticker among the parameters of a call: its file, its format, and the words that it is found by. */

import { badRequest } from '../../machines/model/failure.ts'
import type { MaskPosition, Media } from '../../machines/model/media.ts'
import type { NewSticker, StickerFormat } from '../../machines/model/operation-stickers.ts'
import { Arguments } from './arguments.ts'
import { mediaOf, uploadOf } from './media.ts'
import type { Call } from './method.ts'

const STICKERS = 50
const EMOJIS = 20
const FORMATS: readonly StickerFormat[] = ['static', 'animated', 'video']
const POINTS: readonly MaskPosition['point'][] = ['forehead', 'eyes', 'mouth', 'chin']

export function formatOf(given: string): StickerFormat {
  const format = FORMATS.find((known) => known === given)
  if (!format) throw badRequest('invalid sticker format specified')
  return format
}

/** The file of a sticker; the other parameters of the call do not describe it. */
export const stickerFileOf = (call: Call, parameter: string, args = call.args): Promise<Media> =>
  mediaOf(
    call,
    'sticker',
    'sticker',
    new Arguments([['sticker', args.text(parameter) ?? `attach://${parameter}`]]),
  )

export async function newStickersOf(call: Call): Promise<NewSticker[]> {
  const { args } = call
  const older = await olderStickerOf(call, 'stickers')
  if (older) return [older]
  const given = args.list('stickers', 'stickers', 'InputSticker')
  if (given.length > STICKERS) throw badRequest('too many stickers specified')
  const stickers: NewSticker[] = []
  for (const item of given) {
    stickers.push(
      await inputSticker(call, item, "can't parse InputSticker", args.text('sticker_format')),
    )
  }
  return stickers
}

export async function newStickerOf(call: Call): Promise<NewSticker> {
  const older = await olderStickerOf(call, 'sticker')
  if (older) return older
  const given = call.args.parsed('sticker', 'sticker JSON object')
  return inputSticker(call, given, "can't parse sticker", 'auto')
}

/** The parameters that named a file of each format before there was an InputSticker. */
const OLDER: Readonly<Record<string, StickerFormat>> = {
  png_sticker: 'static',
  tgs_sticker: 'animated',
  webm_sticker: 'video',
}

/** The one sticker of a call in the form of older libraries, where `parameter` is not given. */
async function olderStickerOf(call: Call, parameter: string): Promise<NewSticker | undefined> {
  const { args } = call
  const isOlder = (name: string) => args.has(name) || uploadOf(call, args, name) !== undefined
  const source = Object.keys(OLDER).find(isOlder)
  const format = source && OLDER[source]
  if (args.has(parameter) || !source || !format) return undefined
  const emojis = (args.text('emojis') ?? '').match(/\p{RGI_Emoji}/gv) ?? []
  const list = new Arguments([['emoji_list', JSON.stringify(emojis)]])
  return {
    emojis: emojisOf(list, `can't parse ${source}`),
    keywords: [],
    ...maskOf(args, ...MASK_PROBLEMS),
    format,
    media: await stickerFileOf(call, source),
  }
}

/** `problem` begins the texts of errors; `fallback` is the format of a sticker that names none. */
async function inputSticker(
  call: Call,
  given: unknown,
  problem: string,
  fallback?: string,
): Promise<NewSticker> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw badRequest(`${problem}: InputSticker must be an Object`)
  }
  const item = Arguments.from(given)
  const format = item.text('format') ?? fallback
  if (format === undefined) throw badRequest(`${problem}: Can't find field "format"`)
  const isSource = item.has('sticker') && (uploadOf(call, item, 'sticker') || !isUpload(item))
  if (!isSource) throw badRequest(`${problem}: sticker not found`)
  const known = format === 'auto' ? undefined : formatOf(format)
  if (known !== undefined && known !== 'static' && isUrl(item)) {
    throw badRequest(`${known} sticker must be uploaded as an InputFile`)
  }
  return {
    emojis: emojisOf(item, problem),
    keywords: keywordsOf(item, `${problem}: `),
    ...maskOf(item, problem),
    ...(known && { format: known }),
    media: await stickerFileOf(call, 'sticker', item),
  }
}

const isUpload = (item: Arguments) => (item.text('sticker') ?? '').startsWith('attach://')
const isUrl = (item: Arguments) => !isUpload(item) && (item.text('sticker') ?? '').includes('.')

export function emojisOf(args: Arguments, problem: string): readonly string[] {
  const given = args.json('emoji_list')
  if (given === undefined) throw badRequest(`${problem}: Can't find field "emoji_list"`)
  if (!Array.isArray(given)) throw badRequest(`${problem}: expected an Array of string`)
  if (given.length === 0) throw badRequest(`${problem}: emoji list must be non-empty`)
  if (given.length > EMOJIS) throw badRequest(`${problem}: too many emoji specified`)
  return given.map((emoji: unknown) => {
    if (typeof emoji !== 'string') throw badRequest(`${problem}: emoji must be a string`)
    if (!isEmoji(emoji)) throw badRequest(`${problem}: expected a Unicode emoji`)
    return emoji
  })
}

/** Some emoji are written with the selector of their picture and without. */
const isEmoji = (text: string) =>
  /^\p{RGI_Emoji}$/v.test(text) || /^\p{RGI_Emoji}$/v.test(`${text}\ufe0f`)

export function keywordsOf(args: Arguments, problem: string): readonly string[] {
  if (!args.has('keywords')) return []
  const given = args.json('keywords')
  if (given === undefined) throw badRequest(`${problem}can't parse keywords JSON object`)
  if (!Array.isArray(given)) throw badRequest(`${problem}field "keywords" must be an Array`)
  return given.map((keyword: unknown) => {
    if (typeof keyword !== 'string') throw badRequest(`${problem}keyword must be a string`)
    return keyword
  })
}

/** What is said of a `mask_position` that is a parameter of its own, and of one that is no JSON. */
export const MASK_PROBLEMS = [
  "can't parse mask position",
  "can't parse mask position JSON object",
] as const

export function maskOf(
  args: Arguments,
  problem: string,
  broken = `${problem}: MaskPosition must be an Object`,
): { readonly mask?: MaskPosition } {
  if (!args.has('mask_position')) return {}
  const given = args.json('mask_position')
  if (given === null) return {}
  if (given === undefined) throw badRequest(broken)
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw badRequest(`${problem}: MaskPosition must be an Object`)
  }
  const item = Arguments.from(given)
  const point = POINTS.find((known) => known === item.text('point'))
  if (!point) throw badRequest(`${problem}: wrong point specified`)
  const figure = (name: string) => {
    if (!item.has(name)) throw badRequest(`${problem}: Can't find field "${name}"`)
    return item.number(name)
  }
  return {
    mask: {
      point,
      xShift: figure('x_shift'),
      yShift: figure('y_shift'),
      scale: figure('scale'),
    },
  }
}
