/** What the legacy Markdown mode makes of its few forms, none of which nest. */
import t from 'tap'
import { parseMarkdown } from '../../../src/bot-api/entities/markdown.ts'
import { refusal, type Shown, show } from './outcome.ts'

const person = { id: 42, is_bot: false, first_name: '' }
const cases: [source: string, text: string, entities: Shown[]][] = [
  [
    '*x* _y_ `z`',
    'x y z',
    [
      ['bold', 'x'],
      ['italic', 'y'],
      ['code', 'z'],
    ],
  ],
  ['*x_y*', 'x_y', [['bold', 'x_y']]],
  ['```\nx```', 'x', [['pre', 'x']]],
  ['```py\nx```', 'x', [['pre', 'x', { language: 'py' }]]],
  ['[x](http://a.b/c)', 'x', [['text_link', 'x', { url: 'http://a.b/c' }]]],
  ['[x](http://a.b', 'x', [['text_link', 'x', { url: 'http://a.b/' }]]],
  ['[x](nowhere)', 'x', []],
  ['[x](tg://user?id=42)', 'x', [['text_mention', 'x', { user: person }]]],
  ['\\_\\*\\[\\`', '_*[`', []],
  ['\\a . ! ~', '\\a . ! ~', []],
  ['**x', 'x', []],
  ['👍_👎_', '👍👎', [['italic', '👎']]],
]

for (const [source, text, entities] of cases) {
  t.test(`Markdown ${source} becomes ${text}`, async (t) => {
    const parsed = parseMarkdown(source)
    t.equal(parsed.text, text)
    t.strictSame(show(parsed), entities)
  })
}

for (const [source, at] of [
  ['é*x', 2],
  ['_', 0],
  ['a `', 2],
  ['[x', 0],
  ['👍```x', 4],
] as const) {
  t.test(`Markdown ${source} is refused where its entity starts`, async (t) => {
    const detail = `Can't find end of the entity starting at byte offset ${at}`
    t.equal(
      refusal(() => parseMarkdown(source)),
      `can't parse entities: ${detail}`,
    )
  })
}
