/** Reads the blocks of a rich message as a caller wrote them; an error names the block that is wrong. */

import { failed } from '../../../machines/model/failure.ts'
import type {
  RichBlock,
  RichButton,
  RichCaption,
  RichCell,
  RichListItem,
  RichText,
} from '../../../machines/model/rich.ts'

const MOST_BLOCKS = 500
const DEPTH = 16

const bad = (problem: string) => failed('bad_request', `can't parse rich message: ${problem}`)

type Given = Readonly<Record<string, unknown>>

function objectOf(value: unknown, what: string): Given {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Given
  throw bad(`${what} must be an object`)
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw bad(`${what} must be an array`)
}

function stringOf(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw bad(`${what} must be a string`)
}

function numberOf(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw bad(`${what} must be a number`)
}

/** Formatted pieces by their type: the members they need beside their text, and whether they have one. */
const PIECES: Readonly<Record<string, readonly string[]>> = {
  ...{ bold: ['text'], italic: ['text'], underline: ['text'], strikethrough: ['text'] },
  ...{ spoiler: ['text'], subscript: ['text'], superscript: ['text'], marked: ['text'] },
  ...{ code: ['text'], date_time: ['text', 'unix_time'], text_mention: ['text', 'user'] },
  ...{ custom_emoji: ['custom_emoji_id'], mathematical_expression: ['expression'] },
  ...{ url: ['text', 'url'], email_address: ['text', 'email_address'] },
  ...{ phone_number: ['text', 'phone_number'], bank_card_number: ['text', 'bank_card_number'] },
  ...{ mention: ['text', 'username'], hashtag: ['text', 'hashtag'], cashtag: ['text', 'cashtag'] },
  ...{ bot_command: ['text', 'bot_command'], button: ['button'], anchor: ['name'] },
  ...{ anchor_link: ['text', 'anchor_name'], reference: ['text', 'name'] },
  reference_link: ['text', 'reference_name'],
}

/** Members of a piece are strings, but for these. Its text and its button are read apart. */
const READERS: Readonly<Record<string, (value: unknown, what: string) => unknown>> = {
  text: () => undefined,
  button: () => undefined,
  user: objectOf,
  unix_time: numberOf,
}

function assertMember(type: string, name: string, value: unknown): void {
  if (value === undefined) throw bad(`${type} needs "${name}"`)
  const read = READERS[name] ?? stringOf
  read(value, `"${name}" of ${type}`)
}

function richTextOf(value: unknown, what = 'text', depth = 0): RichText {
  if (typeof value === 'string') return value
  if (depth > DEPTH) throw bad('it is nested too deeply')
  if (Array.isArray(value)) return value.map((one) => richTextOf(one, what, depth + 1))
  const piece = objectOf(value, what)
  const type = stringOf(piece.type, `the type of a ${what}`)
  const needed = Object.hasOwn(PIECES, type) ? PIECES[type] : undefined
  if (!needed) throw bad(`text of the type "${type}" is not known`)
  for (const name of needed) assertMember(type, name, piece[name])
  if (piece.alternative_text !== undefined)
    assertMember(type, 'alternative_text', piece.alternative_text)
  return {
    ...piece,
    type,
    ...(piece.text !== undefined && { text: richTextOf(piece.text, what, depth + 1) }),
    ...(type === 'button' && { button: buttonOf(piece.button) }),
  }
}

const ACTIONS = [
  ...['url', 'callback_data', 'web_app', 'login_url', 'switch_inline_query'],
  ...['switch_inline_query_current_chat', 'switch_inline_query_chosen_chat'],
  ...['copy_text', 'disabled'],
]

function buttonOf(value: unknown): RichButton {
  const button = objectOf(value, 'a button')
  const actions = ACTIONS.filter((name) => button[name] !== undefined)
  if (actions.length !== 1) throw bad('a button does exactly one thing')
  const data = button.callback_data
  if (data !== undefined && Buffer.byteLength(stringOf(data, 'callback_data')) > 64) {
    throw failed('bad_request', 'BUTTON_DATA_INVALID')
  }
  return { ...button, text: richTextOf(button.text, 'the text of a button') }
}

const captionOf = (value: unknown): RichCaption => {
  const { text, credit } = objectOf(value, 'a caption')
  return {
    text: richTextOf(text, 'a caption'),
    ...(credit !== undefined && { credit: richTextOf(credit, 'a credit') }),
  }
}

const flags = (given: Given, ...names: readonly string[]) =>
  Object.fromEntries(names.filter((name) => given[name] === true).map((name) => [name, true]))

/** A block of media as it is written: the field that names its file. */
export type ReadMedia = (type: string, given: Given) => Promise<Partial<RichBlock>>

const MEDIA_BLOCKS = ['animation', 'audio', 'document', 'photo', 'video', 'voice_note']

/** Reads blocks one after the other; `media` resolves the files that they show. */
export class BlockReader {
  readonly #media: ReadMedia
  #count = 0

  constructor(media: ReadMedia) {
    this.#media = media
  }

  async blocks(value: unknown, depth = 0): Promise<readonly RichBlock[]> {
    if (depth > DEPTH) throw bad('it is nested too deeply')
    const blocks: RichBlock[] = []
    for (const given of listOf(value, 'blocks')) blocks.push(await this.#block(given, depth))
    return blocks
  }

  async #block(value: unknown, depth: number): Promise<RichBlock> {
    this.#count++
    if (this.#count > MOST_BLOCKS) throw bad('it has too many blocks')
    const given = objectOf(value, 'a block')
    const type = stringOf(given.type, 'the type of a block')
    if (MEDIA_BLOCKS.includes(type)) {
      const file = await this.#media(type, objectOf(given[type], type))
      return { type, ...file, ...this.#caption(given) }
    }
    switch (type) {
      case 'divider':
        return { type }
      case 'mathematical_expression':
        return { type, expression: stringOf(given.expression, 'an expression') }
      case 'anchor':
        return { type, name: stringOf(given.name, 'the name of an anchor') }
      case 'list':
        return { type, items: await this.#items(given.items, depth) }
      case 'table':
        return {
          type,
          cells: cellsOf(given.cells),
          ...flags(given, 'is_bordered', 'is_striped', 'is_compact'),
          ...(given.caption !== undefined && { caption: richTextOf(given.caption, 'a caption') }),
        }
      case 'map':
        return { type, ...placeOf(given), ...this.#caption(given) }
      case 'buttons':
        return {
          type,
          buttons: listOf(given.buttons, 'buttons').map(buttonOf),
          ...(given.align !== undefined && { align: stringOf(given.align, 'align') }),
        }
      case 'blockquote':
      case 'collage':
      case 'slideshow':
      case 'details':
        return { type, ...(await this.#container(type, given, depth)) }
      default:
        return { type, ...textBlockOf(type, given) }
    }
  }

  #caption({ caption }: Given): Pick<RichBlock, 'caption'> {
    return caption === undefined ? {} : { caption: captionOf(caption) }
  }

  async #container(type: string, given: Given, depth: number): Promise<Partial<RichBlock>> {
    const blocks = await this.blocks(given.blocks, depth + 1)
    if (type === 'details') {
      const summary = richTextOf(given.summary, 'a summary')
      return { summary, blocks, ...flags(given, 'is_open') }
    }
    if (type === 'blockquote') return { blocks, ...creditOf(given) }
    const isMedia = ({ type }: RichBlock) => MEDIA_BLOCKS.includes(type)
    if (!blocks.every(isMedia)) throw bad(`a ${type} shows media only`)
    return { blocks, ...this.#caption(given) }
  }

  async #items(value: unknown, depth: number): Promise<readonly RichListItem[]> {
    const items: RichListItem[] = []
    let number = 0
    for (const one of listOf(value, 'items')) {
      const given = objectOf(one, 'an item')
      const type =
        given.type === undefined ? undefined : stringOf(given.type, 'the type of an item')
      number =
        given.value === undefined ? number + 1 : numberOf(given.value, 'the value of an item')
      items.push({
        label: labelOf(type, given.value === undefined && type === undefined ? undefined : number),
        blocks: await this.blocks(given.blocks, depth + 1),
        ...flags(given, 'has_checkbox', 'is_checked'),
        ...(given.value !== undefined && { value: number }),
        ...(type !== undefined && { type }),
      })
    }
    return items
  }
}

const creditOf = ({ credit }: Given) =>
  credit === undefined ? {} : { credit: richTextOf(credit, 'a credit') }

/** Blocks that are a text and little more. */
function textBlockOf(type: string, given: Given): Partial<RichBlock> {
  const text = () => ({ text: richTextOf(given.text, `the text of a ${type}`) })
  switch (type) {
    case 'paragraph':
    case 'footer':
    case 'thinking':
      return text()
    case 'heading': {
      const size = numberOf(given.size, 'the size of a heading')
      if (!Number.isInteger(size) || size < 1 || size > 6)
        throw bad('a heading has the size 1 to 6')
      return { ...text(), size }
    }
    case 'pre':
      return {
        ...text(),
        ...(given.language !== undefined && { language: stringOf(given.language, 'a language') }),
      }
    case 'expandable_blockquote':
    case 'pullquote':
      return { ...text(), ...creditOf(given) }
    default:
      throw bad(`a block of the type "${type}" is not known`)
  }
}

/** The sign before an item, by the reference's types of numbers. */
function labelOf(type: string | undefined, number: number | undefined): string {
  if (number === undefined) return '•'
  if (type === 'a' || type === 'A') {
    const letter = String.fromCharCode((type === 'a' ? 97 : 65) + ((number - 1) % 26))
    return `${letter}.`
  }
  if (type === 'i' || type === 'I') {
    const roman = romanOf(number)
    return `${type === 'i' ? roman.toLowerCase() : roman}.`
  }
  return `${number}.`
}

const ROMAN: readonly (readonly [number, string])[] = [
  ...([
    [1000, 'M'],
    [900, 'CM'],
    [500, 'D'],
    [400, 'CD'],
    [100, 'C'],
    [90, 'XC'],
  ] as const),
  ...([
    [50, 'L'],
    [40, 'XL'],
    [10, 'X'],
    [9, 'IX'],
    [5, 'V'],
    [4, 'IV'],
    [1, 'I'],
  ] as const),
]

function romanOf(number: number): string {
  const [value, sign] = ROMAN.find(([value]) => value <= number) ?? []
  if (value === undefined || number > 3999) return number > 0 ? `${number}` : ''
  return sign + romanOf(number - value)
}

function cellsOf(value: unknown): readonly (readonly RichCell[])[] {
  return listOf(value, 'cells').map((row) =>
    listOf(row, 'a row of cells').map((one) => {
      const given = objectOf(one, 'a cell')
      return {
        ...(given.text !== undefined && { text: richTextOf(given.text, 'a cell') }),
        ...flags(given, 'is_header'),
        ...(given.colspan !== undefined && { colspan: numberOf(given.colspan, 'colspan') }),
        ...(given.rowspan !== undefined && { rowspan: numberOf(given.rowspan, 'rowspan') }),
        align: given.align === undefined ? 'left' : stringOf(given.align, 'align'),
        valign: given.valign === undefined ? 'middle' : stringOf(given.valign, 'valign'),
      }
    }),
  )
}

function placeOf(given: Given): Partial<RichBlock> {
  const location = objectOf(given.location, 'a location')
  const latitude = numberOf(location.latitude, 'a latitude')
  const longitude = numberOf(location.longitude, 'a longitude')
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) {
    throw failed('bad_request', 'wrong location specified')
  }
  const figure = (name: string, usual: number) =>
    given[name] === undefined ? usual : numberOf(given[name], name)
  return {
    location: { latitude, longitude },
    ...{ zoom: figure('zoom', 15), width: figure('width', 600), height: figure('height', 400) },
  }
}
