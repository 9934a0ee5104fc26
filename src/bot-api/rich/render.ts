/** A rich message as a formatted text with its files: for networks that have no such messages, and for one-line views. */
import type { Media } from '../../../machines/model/media.ts'
import type {
  RichBlock,
  RichButton,
  RichCaption,
  RichCell,
  RichText,
} from '../../../machines/model/rich.ts'
import type { Text, TextEntity } from '../../../machines/model/text.ts'

interface Rendered extends Text {
  readonly media: readonly Media[]
}

const DIVIDER = '———'

type Piece = Exclude<RichText, string | readonly RichText[]>

class Writer {
  text = ''
  readonly entities: TextEntity[] = []
  readonly media: Media[] = []

  /** Writes text and adds an entity over it. */
  marked(type: string, write: () => void, more: object = {}): void {
    const offset = this.text.length
    write()
    const length = this.text.length - offset
    if (length > 0) this.entities.push({ type, offset, length, ...more })
  }

  /** Begins a block on a line of its own; after the first one with an empty line between. */
  begin(): void {
    if (this.text === '') return
    while (!this.text.endsWith('\n\n')) this.text += '\n'
  }

  rich(text: RichText | undefined): void {
    if (text === undefined) return
    if (typeof text === 'string') this.text += text
    else if (Array.isArray(text)) for (const piece of text) this.rich(piece)
    else this.#piece(text as Piece)
  }

  #piece(piece: Piece): void {
    const write = PIECES[piece.type]
    if (write) write(this, piece)
    else this.rich(piece.text)
  }

  button({ text, url }: RichButton): void {
    this.text += '['
    if (url === undefined) this.rich(text)
    else this.marked('text_link', () => this.rich(text), { url })
    this.text += ']'
  }

  credit(credit: RichText | undefined): void {
    if (credit === undefined) return
    this.text += '\n— '
    this.marked('italic', () => this.rich(credit))
  }

  caption(caption: RichText | RichCaption | undefined): void {
    if (caption === undefined) return
    const isBoth = typeof caption === 'object' && !Array.isArray(caption) && !('type' in caption)
    const { text, credit } = (isBoth ? caption : { text: caption }) as RichCaption
    this.rich(text)
    this.credit(credit)
  }

  blocks(blocks: readonly RichBlock[] = []): void {
    for (const block of blocks) {
      if (block.type === 'anchor') continue
      this.begin()
      const write = BLOCKS[block.type] ?? shown
      write(this, block)
    }
  }

  /** Entities allowed within a quotation: no other quotation, and no code. */
  within(blocks: readonly RichBlock[] | undefined): void {
    const inner = written(blocks)
    const offset = this.text.length
    this.text += inner.text
    this.media.push(...inner.media)
    const kept = inner.entities.filter(({ type }) => !/quote|pre/.test(type))
    for (const entity of kept) this.entities.push({ ...entity, offset: entity.offset + offset })
  }

  list({ items = [] }: RichBlock): void {
    for (const [place, item] of items.entries()) {
      if (place > 0 && !this.text.endsWith('\n')) this.text += '\n'
      const box = item.has_checkbox ? `${item.is_checked ? '☑' : '☐'} ` : ''
      const label = box !== '' && item.label === '•' ? '' : `${item.label} `
      this.text += label + box
      this.#append(tight(written(item.blocks)))
    }
  }

  #append({ text, entities, media }: Rendered): void {
    const offset = this.text.length
    this.text += text
    this.media.push(...media)
    for (const entity of entities) this.entities.push({ ...entity, offset: entity.offset + offset })
  }

  /** Columns stand below each other in letters of one width. */
  table({ cells = [], caption }: RichBlock): void {
    const rows = cells.map((row) => row.flatMap(textsOf))
    const widths = rows.reduce<readonly number[]>((all, row) => {
      const most = Math.max(all.length, row.length)
      return Array.from({ length: most }, (_, at) => Math.max(all[at] ?? 0, row[at]?.length ?? 0))
    }, [])
    const lines = rows.map((row) =>
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join(' | ')
        .trimEnd(),
    )
    this.marked('pre', () => this.rich(lines.join('\n')))
    if (caption === undefined) return
    this.text += '\n'
    this.caption(caption)
  }
}

const entity = (writer: Writer, { type, text }: Piece) =>
  writer.marked(type, () => writer.rich(text))

/** Pieces that need more than their text; other pieces are only formatted text. */
const PIECES: Readonly<Record<string, (writer: Writer, piece: Piece) => void>> = {
  bold: entity,
  italic: entity,
  underline: entity,
  strikethrough: entity,
  spoiler: entity,
  code: entity,
  date_time: (writer, { type, text, unix_time: unixTime, date_time_format: timeFormat }) =>
    writer.marked(type, () => writer.rich(text), {
      unixTime,
      ...(timeFormat ? { timeFormat } : {}),
    }),
  text_mention: (writer, { type, text, user }) =>
    writer.marked(type, () => writer.rich(text), { person: `${(user as { id?: number }).id}` }),
  url: (writer, { text, url }) => writer.marked('text_link', () => writer.rich(text), { url }),
  custom_emoji: (writer, { type, alternative_text, custom_emoji_id: customEmojiId }) =>
    writer.marked(type, () => writer.rich(`${alternative_text ?? '⭐'}`), { customEmojiId }),
  mathematical_expression: (writer, { expression }) =>
    writer.marked('code', () => writer.rich(`${expression}`)),
  button: (writer, { button }) => writer.button(button as RichButton),
}

const slanted = (writer: Writer, { text }: RichBlock) =>
  writer.marked('italic', () => writer.rich(text))

/** Files come after the text; their captions are part of the text. */
function shown(writer: Writer, { media, text, caption }: RichBlock): void {
  if (media) writer.media.push(media)
  writer.rich(text)
  writer.caption(caption)
}

const quoting =
  (type: string, write: (writer: Writer, block: RichBlock) => void) =>
  (writer: Writer, block: RichBlock) =>
    writer.marked(type, () => {
      write(writer, block)
      writer.credit(block.credit)
    })

const gallery = (writer: Writer, { blocks, caption }: RichBlock) => {
  writer.blocks(blocks)
  writer.begin()
  writer.caption(caption)
}

const BLOCKS: Readonly<Record<string, (writer: Writer, block: RichBlock) => void>> = {
  heading: (writer, { text }) => writer.marked('bold', () => writer.rich(text)),
  pre: (writer, { text, language }) =>
    writer.marked('pre', () => writer.rich(text), language ? { language } : {}),
  divider: (writer) => writer.rich(DIVIDER),
  mathematical_expression: (writer, { expression }) =>
    writer.marked('pre', () => writer.rich(expression)),
  list: (writer, block) => writer.list(block),
  blockquote: quoting('blockquote', (writer, { blocks }) => writer.within(blocks)),
  expandable_blockquote: quoting('expandable_blockquote', (writer, { text }) => writer.rich(text)),
  pullquote: quoting('blockquote', (writer, { text }) => writer.rich(text)),
  footer: slanted,
  thinking: slanted,
  details: (writer, { summary, blocks }) => {
    writer.marked('bold', () => writer.rich(summary))
    writer.blocks(blocks)
  },
  collage: gallery,
  slideshow: gallery,
  table: (writer, block) => writer.table(block),
  map: (writer, { location, caption }) => {
    const { latitude = 0, longitude = 0 } = location ?? {}
    const url = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}`
    writer.marked('text_link', () => writer.rich(`${latitude}, ${longitude}`), { url })
    if (caption) writer.rich('\n')
    writer.caption(caption)
  },
  buttons: (writer, { buttons = [] }) => {
    for (const [place, button] of buttons.entries()) {
      if (place > 0) writer.rich(' ')
      writer.button(button)
    }
  },
}

/** A cell over several columns leaves the others empty. */
function textsOf({ text, colspan = 1 }: RichCell): readonly string[] {
  const writer = new Writer()
  writer.rich(text)
  const rest = Array.from({ length: Math.min(Math.max(colspan, 1), 50) - 1 }, () => '')
  return [writer.text.replaceAll('\n', ' '), ...rest]
}

function written(blocks: readonly RichBlock[] | undefined): Rendered {
  const writer = new Writer()
  writer.blocks(blocks)
  return { text: writer.text.trimEnd(), entities: writer.entities, media: writer.media }
}

/** Empty lines are left out. */
function tight({ text, entities, media }: Rendered): Rendered {
  const gone: number[] = []
  for (let at = 1; at < text.length; at++) {
    if (text[at] === '\n' && text[at - 1] === '\n') gone.push(at)
  }
  const before = (place: number) => gone.filter((at) => at < place).length
  const moved = entities.map((entity) => {
    const offset = entity.offset - before(entity.offset)
    const end = entity.offset + entity.length
    return { ...entity, offset, length: end - before(end) - offset }
  })
  return { text: text.replaceAll(/\n{2,}/g, '\n'), entities: moved, media }
}

export function renderRich(blocks: readonly RichBlock[]): Rendered {
  const { text, entities, media } = written(blocks)
  const sorted = entities
    .map((entity) => ({
      ...entity,
      length: Math.min(entity.length, text.length - entity.offset),
    }))
    .filter(({ length }) => length > 0)
    .sort((one, other) => one.offset - other.offset || other.length - one.length)
  return { text, entities: sorted, media }
}

/** The buttons within the blocks, wherever they stand, with plain texts. */
export function buttonsWithin(value: unknown): readonly (RichButton & { readonly text: string })[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(buttonsWithin)
  const { type, buttons, button } = value as { type?: string; buttons?: unknown; button?: unknown }
  const own = type === 'buttons' ? (buttons as RichButton[]) : type === 'button' ? [button] : []
  if (own.length > 0) return (own as RichButton[]).map(plainButton)
  return Object.values(value).flatMap(buttonsWithin)
}

function plainButton(button: RichButton) {
  const writer = new Writer()
  writer.rich(button.text)
  return { ...button, text: writer.text }
}
