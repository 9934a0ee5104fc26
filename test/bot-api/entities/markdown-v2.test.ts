/** What the MarkdownV2 mode makes of each syntax, and what it answers to broken markup. */
import t from 'tap'
import { parseMarkdownV2 } from '../../../src/bot-api/entities/markdown.ts'
import { refusal, type Shown, show } from './outcome.ts'

const person = { id: 42, is_bot: false, first_name: '' }
const emoji = { custom_emoji_id: '5368324170671202286' }
const cases: [source: string, text: string, entities: Shown[]][] = [
  ['*x*', 'x', [['bold', 'x']]],
  ['_x_', 'x', [['italic', 'x']]],
  ['__x__', 'x', [['underline', 'x']]],
  ['~x~', 'x', [['strikethrough', 'x']]],
  ['||x||', 'x', [['spoiler', 'x']]],
  ['`x*`', 'x*', [['code', 'x*']]],
  ['`\\`\\\\`', '`\\', [['code', '`\\']]],
  ['```\nx_y```', 'x_y', [['pre', 'x_y']]],
  ['```py\nx```', 'x', [['pre', 'x', { language: 'py' }]]],
  ['```py```', 'py', [['pre', 'py']]],
  ['[x](https://a.b/\\)c)', 'x', [['text_link', 'x', { url: 'https://a.b/)c' }]]],
  ['[a\\.b]', 'a.b', [['text_link', 'a.b', { url: 'http://a.b/' }]]],
  ['[x](nowhere)', 'x', []],
  ['[x](tg://user?id=42)', 'x', [['text_mention', 'x', { user: person }]]],
  ['![👍](tg://emoji?id=5368324170671202286)', '👍', [['custom_emoji', '👍', emoji]]],
  [
    '![x](tg://time?unix=5&format=r)',
    'x',
    [['date_time', 'x', { unix_time: 5, date_time_format: 'r' }]],
  ],
  ['>a\n>b\nc', 'a\nb\nc', [['blockquote', 'a\nb\n']]],
  ['>a', 'a', [['blockquote', 'a']]],
  ['x\n>a||\ny', 'x\na\ny', [['expandable_blockquote', 'a\n']]],
  ['>a\n>b||', 'a\nb', [['expandable_blockquote', 'a\nb']]],
  [
    '>||a||',
    'a',
    [
      ['blockquote', 'a'],
      ['spoiler', 'a'],
    ],
  ],
  [
    '*a_b_*',
    'ab',
    [
      ['bold', 'ab'],
      ['italic', 'b'],
    ],
  ],
  [
    '___a_b__',
    'ab',
    [
      ['underline', 'ab'],
      ['italic', 'a'],
    ],
  ],
  ['👍*👎*', '👍👎', [['bold', '👎']]],
  ['**', '', []],
  ['\\_\\*\\[\\]\\(\\)\\~\\`\\>\\#\\+\\-\\=\\|\\{\\}\\.\\!\\a', '_*[]()~`>#+-=|{}.!a', []],
]

for (const [source, text, entities] of cases) {
  t.test(`MarkdownV2 ${source} becomes ${text}`, async (t) => {
    const parsed = parseMarkdownV2(source)
    t.equal(parsed.text, text)
    t.strictSame(show(parsed), entities)
  })
}

const unescaped = [...'])(>#+-=|{}.!'].map((char): [string, string] => [
  `x${char}`,
  `Character '${char}' is reserved and must be escaped with the preceding '\\'`,
])
const errors: [source: string, detail: string][] = [
  ...unescaped,
  ['é*x', "Can't find end of Bold entity at byte offset 2"],
  ['_x', "Can't find end of Italic entity at byte offset 0"],
  ['__x_', "Can't find end of Italic entity at byte offset 3"],
  ['__x', "Can't find end of Underline entity at byte offset 0"],
  ['~x', "Can't find end of Strikethrough entity at byte offset 0"],
  ['||x', "Can't find end of Spoiler entity at byte offset 0"],
  ['`x', "Can't find end of Code entity at byte offset 0"],
  ['```x', "Can't find end of Pre entity at byte offset 0"],
  ['```c x', "Can't find end of PreCode entity at byte offset 0"],
  ['[x', "Can't find end of TextUrl entity at byte offset 0"],
  ['![x', "Can't find end of CustomEmoji entity at byte offset 0"],
  ['>*a\nb*', "Can't find end of Bold entity at byte offset 1"],
  ['*>a*', "Can't find end of Bold entity at byte offset 3"],
  ['*\n>a', "Can't find end of Bold entity at byte offset 0"],
  ['*>a\nb', "Can't find end of Bold entity at byte offset 0"],
  ['👍[x](a', "Can't find end of a URL at byte offset 8"],
  ['![x](a', "Can't find end of a URL at byte offset 5"],
  ['![x]', 'The entity must contain a tg://emoji or tg://time URL'],
  ['![x](http://a.b)', 'Invalid tg://emoji or tg://time URL specified'],
  ['![x](tg://emoji?id=0)', 'Invalid tg://emoji or tg://time URL specified'],
]

for (const [source, detail] of errors) {
  t.test(`MarkdownV2 ${source} is refused: ${detail}`, async (t) => {
    t.equal(
      refusal(() => parseMarkdownV2(source)),
      `can't parse entities: ${detail}`,
    )
  })
}
