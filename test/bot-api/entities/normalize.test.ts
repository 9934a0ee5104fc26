/** Which entities may overlap or nest, and which are left when there are too many. */
import t from 'tap'
import type { EntityKind, MessageEntity } from '../../../src/bot-api/entities/entity.ts'
import {
  fixEntities,
  limitEntities,
  mergeDetected,
} from '../../../src/bot-api/entities/normalize.ts'

type Brief = [type: EntityKind, offset: number, end: number]

const build = (entities: Brief[]): MessageEntity[] =>
  entities.map(([type, offset, end]) => ({ type, offset, length: end - offset }))
const brief = (entities: MessageEntity[]): Brief[] =>
  entities.map(({ type, offset, length }) => [type, offset, offset + length])

const cases: [behaviour: string, given: Brief[], fixed: Brief[]][] = [
  [
    'styles that touch are joined',
    [
      ['bold', 0, 2],
      ['bold', 2, 4],
    ],
    [['bold', 0, 4]],
  ],
  [
    'a style is cut where another style begins',
    [
      ['bold', 0, 4],
      ['italic', 2, 6],
    ],
    [
      ['bold', 0, 2],
      ['italic', 2, 6],
      ['bold', 2, 4],
    ],
  ],
  [
    'a style is cut at the edges of a link',
    [
      ['bold', 0, 6],
      ['text_link', 2, 4],
    ],
    [
      ['bold', 0, 2],
      ['text_link', 2, 4],
      ['bold', 2, 4],
      ['bold', 4, 6],
    ],
  ],
  [
    'code holds no style',
    [
      ['bold', 0, 6],
      ['code', 2, 4],
    ],
    [
      ['bold', 0, 2],
      ['code', 2, 4],
      ['bold', 4, 6],
    ],
  ],
  [
    'pre wins over the style on the same text',
    [
      ['bold', 0, 2],
      ['pre', 0, 2],
    ],
    [['pre', 0, 2]],
  ],
  [
    'a link in a link is dropped',
    [
      ['text_link', 0, 4],
      ['text_mention', 1, 2],
    ],
    [['text_link', 0, 4]],
  ],
  [
    'of two crossing links the first stays',
    [
      ['text_link', 0, 3],
      ['text_link', 2, 5],
    ],
    [['text_link', 0, 3]],
  ],
  [
    'a quote in a quote is dropped',
    [
      ['blockquote', 0, 4],
      ['expandable_blockquote', 1, 2],
    ],
    [['blockquote', 0, 4]],
  ],
  [
    'a quote may hold a link',
    [
      ['text_link', 1, 2],
      ['blockquote', 0, 4],
    ],
    [
      ['blockquote', 0, 4],
      ['text_link', 1, 2],
    ],
  ],
  [
    'a quote may hold code',
    [
      ['code', 1, 2],
      ['blockquote', 0, 4],
    ],
    [
      ['blockquote', 0, 4],
      ['code', 1, 2],
    ],
  ],
  [
    'a link over the edge of a quote is dropped',
    [
      ['text_link', 3, 6],
      ['blockquote', 0, 4],
    ],
    [['blockquote', 0, 4]],
  ],
  [
    'on the same text the quote is the outer',
    [
      ['bold', 0, 4],
      ['blockquote', 0, 4],
    ],
    [
      ['blockquote', 0, 4],
      ['bold', 0, 4],
    ],
  ],
]
for (const [behaviour, given, fixed] of cases) {
  t.test(behaviour, async (t) => {
    t.strictSame(brief(fixEntities(build(given))), fixed)
    t.strictSame(brief(fixEntities(build(fixed))), fixed, 'and stays so')
  })
}

t.test('what is detected gives way to what the sender marked', async (t) => {
  const marked = build([
    ['text_link', 0, 4],
    ['bold', 5, 9],
    ['code', 10, 12],
  ])
  const detected = build([
    ['url', 2, 6],
    ['mention', 6, 8],
    ['hashtag', 11, 12],
  ])
  t.strictSame(brief(mergeDetected(marked, detected)), [
    ['text_link', 0, 4],
    ['bold', 5, 6],
    ['mention', 6, 8],
    ['bold', 6, 8],
    ['bold', 8, 9],
    ['code', 10, 12],
  ])
})

t.test('of more than a hundred entities links are kept before styles', async (t) => {
  const at = (kind: EntityKind, count: number, shift: number): MessageEntity[] =>
    Array.from({ length: count }, (_, i) => ({ type: kind, offset: i * 8 + shift, length: 1 }))
  const count = (entities: MessageEntity[], kind: EntityKind) =>
    entities.filter(({ type }) => type === kind).length
  const few = limitEntities(
    fixEntities([...at('bold', 90, 0), ...at('text_link', 30, 2), ...at('custom_emoji', 100, 4)]),
  )
  t.equal(count(few, 'text_link'), 30)
  t.equal(count(few, 'bold'), 70)
  t.equal(count(few, 'custom_emoji'), 100, 'custom emoji are counted apart')
  const many = limitEntities(fixEntities([...at('bold', 20, 0), ...at('code', 120, 2)]))
  t.equal(count(many, 'code'), 100)
  t.equal(count(many, 'bold'), 0)
})
