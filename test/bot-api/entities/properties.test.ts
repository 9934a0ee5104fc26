/** What holds for any text: markup round-trips, entities fit it, and nothing but a refusal is thrown. */

import t from 'tap'
import { detectEntities } from '../../../src/bot-api/entities/detect.ts'
import type { FormattedText, MessageEntity } from '../../../src/bot-api/entities/entity.ts'
import { parseHtml } from '../../../src/bot-api/entities/html.ts'
import { parseMarkdown, parseMarkdownV2 } from '../../../src/bot-api/entities/markdown.ts'
import { clean } from '../../../src/bot-api/entities/normalize.ts'
import { formatText } from '../../../src/bot-api/text.ts'
import fc from '../../support/fast-check.ts'
import { refusal } from './outcome.ts'

const pieces = [
  '👍🏽',
  '👨‍👩‍👧',
  'سلام',
  'שלום',
  'é',
  '𝒳',
  '\u200f',
  '\r',
  '\n',
  ' ',
  '\t',
  'a.org',
  '@name',
  '/go',
  '#tag',
]
const markup = [
  '<',
  '>',
  '</',
  '<b>',
  '</b>',
  '<a href=',
  '"',
  "'",
  '&',
  '&#x',
  ';',
  '<pre>',
  '<code class="language-c">',
  '*',
  '_',
  '__',
  '~',
  '||',
  '`',
  '```',
  '[',
  ']',
  '(',
  ')',
  '!',
  '\\',
  '\n>',
  '=',
  '/',
  'tg://emoji?id=1',
  '://',
  ':',
  '.',
  '@',
  '+1',
]
const anyText = fc.string({ unit: 'binary', maxLength: 12 })
const text = fc
  .array(fc.oneof(fc.constantFrom(...pieces), anyText), { maxLength: 12 })
  .map((parts) => parts.join(''))
const noise = fc
  .array(fc.oneof(fc.constantFrom(...markup, ...pieces), anyText), { maxLength: 30 })
  .map((parts) => parts.join(''))

const modes = [
  {
    name: 'HTML',
    parse: parseHtml,
    quote: (plain: string) => plain.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`),
    wrap: (inner: string) => `<b>${inner}</b>`,
  },
  {
    name: 'MarkdownV2',
    parse: parseMarkdownV2,
    quote: (plain: string) => plain.replace(/[_*[\]()~`>#+\-=|{}.!\\]/g, '\\$&'),
    wrap: (inner: string) => `*${inner}*`,
  },
  {
    name: 'Markdown',
    parse: parseMarkdown,
    quote: (plain: string) => plain.replace(/[_*`[]/g, '\\$&'),
    wrap: (inner: string) => `*${inner}*`,
  },
]

const splitsPair = (source: string, position: number): boolean =>
  position > 0 && position < source.length && (source.codePointAt(position - 1) ?? 0) > 0xffff

const fits = (source: string, { offset, length }: MessageEntity): boolean =>
  offset >= 0 &&
  length > 0 &&
  offset + length <= source.length &&
  !splitsPair(source, offset) &&
  !splitsPair(source, offset + length)

const nests = (a: MessageEntity, b: MessageEntity): boolean => {
  const [aEnd, bEnd] = [a.offset + a.length, b.offset + b.length]
  if (aEnd <= b.offset || bEnd <= a.offset) return true
  return (a.offset <= b.offset && bEnd <= aEnd) || (b.offset <= a.offset && aEnd <= bEnd)
}

function fitTogether({ text, entities }: FormattedText): boolean {
  return entities.every((a, i) => fits(text, a) && entities.slice(i + 1).every((b) => nests(a, b)))
}

for (const { name, parse, quote, wrap } of modes) {
  t.test(`in ${name}, an escaped text is read back as it was`, async () => {
    fc.assert(fc.property(text, (plain) => parse(quote(plain)).text === plain))
  })

  t.test(`in ${name}, an entity covers exactly the run it was put around`, async (t) => {
    const run = text.filter((plain) => plain !== '' && !/[\\_*`[]/.test(plain))
    fc.assert(
      fc.property(text, run, text, (before, inner, after) => {
        const source = quote(before) + wrap(quote(inner)) + quote(after)
        const parsed = parse(source)
        const [entity] = parsed.entities
        t.equal(parsed.entities.length, 1)
        return (
          parsed.text.slice(entity!.offset).startsWith(inner) &&
          entity!.offset === before.length &&
          entity!.length === inner.length
        )
      }),
      { numRuns: 60 },
    )
  })

  t.test(`in ${name}, any input is parsed or refused, and its entities fit`, async () => {
    fc.assert(
      fc.property(noise, (source) => {
        let formatted: FormattedText | undefined
        refusal(() => {
          formatted = formatText(source, { parseMode: name, limit: 4096, kind: 'caption' })
        })
        return formatted === undefined || fitTogether(formatted)
      }),
      { numRuns: 1_000 },
    )
  })
}

t.test('any explicit entities are taken or refused, and those taken fit', async () => {
  const entity = fc.record({
    type: fc.constantFrom('bold', 'italic', 'code', 'pre', 'text_link', 'blockquote', 'spoiler'),
    offset: fc.integer({ min: -1, max: 14 }),
    length: fc.integer({ min: 0, max: 14 }),
    url: fc.constant('a.b'),
  })
  fc.assert(
    fc.property(text, fc.array(entity, { maxLength: 8 }), (source, entities) => {
      let formatted: FormattedText | undefined
      refusal(() => {
        const options = {
          entities: JSON.stringify(entities),
          limit: 1024,
          kind: 'caption',
        } as const
        formatted = formatText(source, options)
      })
      return formatted === undefined || fitTogether(formatted)
    }),
    { numRuns: 1_000 },
  )
})

t.test('any string as the entities parameter is read or refused', async () => {
  const options = { limit: 1024, kind: 'caption' } as const
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (entities) => {
      refusal(() => formatText('some text', { ...options, entities }))
    }),
  )
})

t.test(
  'detected entities fit the text, and a cleaned text shows the same ones again',
  async (t) => {
    fc.assert(
      fc.property(noise, (source) => {
        const found = detectEntities(source)
        const once = clean(source.toWellFormed(), [])
        const twice = clean(once.text, [])
        t.equal(twice.text, once.text)
        t.strictSame(detectEntities(twice.text), detectEntities(once.text))
        return fitTogether({ text: source, entities: found })
      }),
      { numRuns: 300 },
    )
  },
)
