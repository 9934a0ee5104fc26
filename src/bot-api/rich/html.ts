/** Rich messages written in HTML, as the blocks they stand for. */

import { failed } from '../../../machines/model/failure.ts'
import type { RichText } from '../../../machines/model/rich.ts'

interface Element {
  readonly tag: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: Node[]
}
type Node = Element | string

/** A block as a caller would write it in JSON. */
export type GivenBlock = Record<string, unknown>

/** The media that a link names: `tg://photo?id=…` or an address. */
export type FindMedia = (kind: string, source: string) => GivenBlock

const EMPTY = ['br', 'hr', 'img', 'input', 'tg-map']

const bad = (problem: string) => failed('bad_request', `can't parse rich message: ${problem}`)

const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: '\u00a0' }),
)

const unescaped = (text: string) =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED.get(name) ?? whole
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
    const isCharacter = code > 0 && code < 0x110000 && !(code >= 0xd800 && code < 0xe000)
    return isCharacter ? String.fromCodePoint(code) : whole
  })

function attributesOf(source: string): ReadonlyMap<string, string> {
  const found = source.matchAll(/([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)
  return new Map(
    [...found].map(([, name = '', one, other, bare]) => [
      name.toLowerCase(),
      unescaped(one ?? other ?? bare ?? ''),
    ]),
  )
}

interface Tag {
  readonly at: number
  readonly end: number
  readonly slash: boolean
  /** Empty for a comment. */
  readonly name: string
  readonly rest: string
}

/** A longer tag is none: a text of many beginnings would be read again and again. */
const LONGEST_TAG = 8_192

/** Tags and comments; what only begins like one is text. */
function* tagsIn(html: string): Generator<Tag> {
  const lastComment = html.lastIndexOf('-->')
  // The name is taken whole, or a long one without an end would be taken in all its lengths.
  const begin = /<(\/?)([a-z][\w-]*)(?![\w-])/iy
  const piece = /[^"'<>]+|"[^"]*"|'[^']*'/y
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    const from = at++
    if (html.startsWith('<!--', from) && lastComment >= from + 4) {
      at = html.indexOf('-->', from + 4) + 3
      yield { at: from, end: at, slash: false, name: '', rest: '' }
      continue
    }
    begin.lastIndex = from
    const [whole, slash, name = ''] = begin.exec(html) ?? []
    if (whole === undefined) continue
    const start = from + whole.length
    let end = start
    for (piece.lastIndex = end; end - start < LONGEST_TAG && piece.test(html); )
      end = piece.lastIndex
    if (html[end] !== '>') continue
    at = end + 1
    yield { at: from, end: at, slash: slash !== '', name, rest: html.slice(start, end) }
  }
}

function parse(html: string): Node[] {
  const root: Element = { tag: '', attributes: new Map(), children: [] }
  const open = [root]
  let from = 0
  const say = (text: string) => {
    if (text !== '') open.at(-1)?.children.push(unescaped(text))
  }
  for (const { at, end, slash, name, rest } of tagsIn(html)) {
    say(html.slice(from, at))
    from = end
    const tag = name.toLowerCase()
    if (tag === '') continue
    if (slash) {
      if (open.length === 1 || open.at(-1)?.tag !== tag) throw bad(`unexpected end tag "${tag}"`)
      open.pop()
      continue
    }
    const element: Element = { tag, attributes: attributesOf(rest), children: [] }
    open.at(-1)?.children.push(element)
    if (EMPTY.includes(tag) || rest.trimEnd().endsWith('/')) continue
    if (open.length > 60) throw bad('it is nested too deeply')
    open.push(element)
  }
  say(html.slice(from))
  if (open.length > 1) throw bad(`can't find the end tag of "${open.at(-1)?.tag}"`)
  return root.children
}

const MARKS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ b: 'bold', strong: 'bold', i: 'italic', em: 'italic', u: 'underline', ins: 'underline' },
    ...{ s: 'strikethrough', strike: 'strikethrough', del: 'strikethrough' },
    ...{
      'tg-spoiler': 'spoiler',
      sub: 'subscript',
      sup: 'superscript',
      mark: 'marked',
      code: 'code',
    },
  }),
)

const isBlank = (text: RichText) => typeof text === 'string' && text.trim() === ''

/** Runs of blanks count as one, as in any HTML. */
const inline = (nodes: readonly Node[]): RichText => {
  const pieces = nodes.map((node) =>
    typeof node === 'string' ? node.replaceAll(/\s+/g, ' ') : piece(node),
  )
  return pieces.length === 1 ? (pieces[0] as RichText) : pieces
}

/** The words of nodes and of all within them. */
const wordsOf = (nodes: readonly Node[]): string =>
  nodes.map((node) => (typeof node === 'string' ? node : wordsWithin(node))).join('')

const wordsWithin = ({ tag, children }: Element) => (tag === 'br' ? '\n' : wordsOf(children))

/** Where no formatting may be. */
const lineOf = (nodes: readonly Node[]) => wordsOf(nodes).replaceAll(/\s+/g, ' ')

function piece({ tag, attributes, children }: Element): RichText {
  const text = inline(children)
  const mark = MARKS.get(tag)
  if (mark) return { type: mark, text }
  switch (tag) {
    case 'br':
      return '\n'
    case 'span':
      return attributes.get('class') === 'tg-spoiler' ? { type: 'spoiler', text } : text
    case 'a':
      return linkOf(attributes, text)
    case 'tg-emoji': {
      const custom_emoji_id = attributes.get('emoji-id') ?? ''
      return { type: 'custom_emoji', custom_emoji_id, alternative_text: lineOf(children) }
    }
    case 'tg-time': {
      const unix_time = Number(attributes.get('unix') ?? 0)
      const date_time_format = attributes.get('format') ?? ''
      return { type: 'date_time', text, unix_time, date_time_format }
    }
    case 'tg-math':
      return { type: 'mathematical_expression', expression: lineOf(children) }
    case 'tg-reference':
      return { type: 'reference', text, name: attributes.get('name') ?? '' }
    default:
      throw bad(`unsupported tag "${tag}"`)
  }
}

function linkOf(attributes: ReadonlyMap<string, string>, text: RichText): RichText {
  const [name, url = ''] = [attributes.get('name'), attributes.get('href')]
  if (name !== undefined && url === '') return [{ type: 'anchor', name }, text]
  const [, person] = /^tg:\/\/user\?id=(\d{1,15})$/.exec(url) ?? []
  if (person)
    return {
      type: 'text_mention',
      text,
      user: { id: Number(person), is_bot: false, first_name: '' },
    }
  if (url.startsWith('#')) return { type: 'anchor_link', text, anchor_name: url.slice(1) }
  return url === '' ? text : { type: 'url', text, url }
}

const isBlock = (node: Node): node is Element => typeof node !== 'string' && BLOCKS.has(node.tag)

type BlockOf = (element: Element, media: FindMedia) => GivenBlock[]

const texts =
  (type: string, more: object = {}): BlockOf =>
  ({ children }) => [{ type, text: inline(children), ...more }]

const list: BlockOf = ({ tag, attributes, children }, media) => {
  const items = children.filter(
    (node) => typeof node !== 'string' && node.tag === 'li',
  ) as Element[]
  const from = Number(attributes.get('start') ?? 1)
  const type = attributes.get('type') ?? '1'
  return [
    {
      type: 'list',
      items: items.map((item, place) => {
        const [first] = item.children.filter(
          (node) => typeof node !== 'string' || node.trim() !== '',
        )
        const box = typeof first === 'object' && first.tag === 'input' ? first : undefined
        const rest = item.children.filter((node) => node !== box)
        const value = item.attributes.get('value') ?? from + place
        return {
          blocks: blocksIn(rest, media),
          ...(box && { has_checkbox: true }),
          ...(box?.attributes.has('checked') && { is_checked: true }),
          ...(tag === 'ol' && { value: Number(value), type }),
        }
      }),
    },
  ]
}

const table: BlockOf = ({ attributes, children }) => {
  const all = (nodes: readonly Node[]): Element[] =>
    nodes.flatMap((node) =>
      typeof node === 'string'
        ? []
        : /^t(head|body|foot)$/.test(node.tag)
          ? all(node.children)
          : [node],
    )
  const parts = all(children)
  const caption = parts.find(({ tag }) => tag === 'caption')
  const cellOf = (cell: Element) => {
    const number = (name: string) =>
      cell.attributes.has(name) && { [name]: Number(cell.attributes.get(name)) }
    const [align, valign] = [cell.attributes.get('align'), cell.attributes.get('valign')]
    return {
      text: inline(cell.children),
      ...(cell.tag === 'th' && { is_header: true }),
      ...number('colspan'),
      ...number('rowspan'),
      ...(align && { align }),
      ...(valign && { valign }),
    }
  }
  return [
    {
      type: 'table',
      cells: parts
        .filter(({ tag }) => tag === 'tr')
        .map((row) =>
          all(row.children)
            .filter(({ tag }) => /^t[dh]$/.test(tag))
            .map(cellOf),
        ),
      ...(attributes.has('bordered') && { is_bordered: true }),
      ...(attributes.has('striped') && { is_striped: true }),
      ...(attributes.has('compact') && { is_compact: true }),
      ...(caption && { caption: inline(caption.children) }),
    },
  ]
}

const quotation: BlockOf = ({ attributes, children }, media) => {
  const cite = children.find((node) => typeof node !== 'string' && node.tag === 'cite') as Element
  const rest = children.filter((node) => node !== cite)
  const credit = cite && { credit: inline(cite.children) }
  return attributes.has('expandable')
    ? [{ type: 'expandable_blockquote', text: inline(rest), ...credit }]
    : [{ type: 'blockquote', blocks: blocksIn(rest, media), ...credit }]
}

const details: BlockOf = ({ attributes, children }, media) => {
  const summary = children.find(
    (node) => typeof node !== 'string' && node.tag === 'summary',
  ) as Element
  const rest = children.filter((node) => node !== summary)
  return [
    {
      type: 'details',
      summary: summary ? inline(summary.children) : '',
      blocks: blocksIn(rest, media),
      ...(attributes.has('open') && { is_open: true }),
    },
  ]
}

const preformatted: BlockOf = ({ children }) => {
  const [only] = children
  const inner =
    children.length === 1 && typeof only === 'object' && only.tag === 'code' ? only : undefined
  const language = /^language-(.+)$/.exec(inner?.attributes.get('class') ?? '')?.[1]
  const text = wordsOf(inner?.children ?? children)
    .replace(/^\n/, '')
    .replace(/\n$/, '')
  return [{ type: 'pre', text, ...(language && { language }) }]
}

const file =
  (kind: string): BlockOf =>
  ({ attributes }, media) => [media(kind, attributes.get('src') ?? '')]

const figure: BlockOf = ({ children }, media) => {
  const caption = children.find(
    (node) => typeof node !== 'string' && node.tag === 'figcaption',
  ) as Element
  const [shown] = blocksIn(
    children.filter((node) => node !== caption),
    media,
  )
  if (!shown) throw bad('a figure shows nothing')
  return [{ ...shown, ...(caption && { caption: { text: inline(caption.children) } }) }]
}

const gallery =
  (type: string): BlockOf =>
  ({ children }, media) => [{ type, blocks: blocksIn(children, media) }]

const map: BlockOf = ({ attributes }) => {
  const figureOf = (name: string) =>
    attributes.has(name) && { [name]: Number(attributes.get(name)) }
  const place = {
    latitude: Number(attributes.get('lat')),
    longitude: Number(attributes.get('long')),
  }
  return [
    {
      type: 'map',
      location: place,
      ...figureOf('zoom'),
      ...figureOf('width'),
      ...figureOf('height'),
    },
  ]
}

const BLOCKS: ReadonlyMap<string, BlockOf> = new Map<string, BlockOf>([
  ...[1, 2, 3, 4, 5, 6].map((size) => [`h${size}`, texts('heading', { size })] as const),
  ['p', texts('paragraph')],
  ['footer', texts('footer')],
  ['aside', texts('pullquote')],
  ['tg-thinking', texts('thinking')],
  ['hr', () => [{ type: 'divider' }]],
  [
    'tg-math-block',
    ({ children }) => [{ type: 'mathematical_expression', expression: lineOf(children) }],
  ],
  ['pre', preformatted],
  ['ul', list],
  ['ol', list],
  ['blockquote', quotation],
  ['details', details],
  ['table', table],
  ['figure', figure],
  ['img', file('photo')],
  ['video', file('video')],
  ['audio', file('audio')],
  ['tg-document', file('document')],
  ['tg-collage', gallery('collage')],
  ['tg-slideshow', gallery('slideshow')],
  ['tg-map', map],
  ['div', ({ children }, media) => blocksIn(children, media)],
])

/** Text between blocks becomes paragraphs. */
function blocksIn(nodes: readonly Node[], media: FindMedia): GivenBlock[] {
  const blocks: GivenBlock[] = []
  let run: Node[] = []
  const end = () => {
    const text = inline(run)
    const isEmpty = Array.isArray(text) ? text.every(isBlank) : isBlank(text)
    if (run.length > 0 && !isEmpty) blocks.push({ type: 'paragraph', text: trimmed(text) })
    run = []
  }
  for (const node of nodes) {
    if (!isBlock(node)) run.push(node)
    else {
      end()
      blocks.push(...(BLOCKS.get(node.tag)?.(node, media) ?? []))
    }
  }
  end()
  return blocks
}

/** Removes blanks at the ends of a paragraph, which are only the layout of the HTML. */
function trimmed(text: RichText): RichText {
  if (typeof text === 'string') return text.trim()
  if (!Array.isArray(text)) return text
  const kept = [...(text as readonly RichText[])]
  const [first, last] = [kept[0], kept.at(-1)]
  if (typeof last === 'string') kept[kept.length - 1] = last.trimEnd()
  if (typeof first === 'string') kept[0] = (kept[0] as string).trimStart()
  return kept.filter((one) => one !== '')
}

export const blocksOfHtml = (html: string, media: FindMedia): GivenBlock[] =>
  blocksIn(parse(html), media)
