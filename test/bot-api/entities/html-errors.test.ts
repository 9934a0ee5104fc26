/** What the HTML mode answers to markup it cannot read: words and byte offsets are the reference's. */
import t from 'tap'
import { parseHtml } from '../../../src/bot-api/entities/html.ts'
import { refusal } from './outcome.ts'

const cases: [source: string, detail: string][] = [
  ['<br/>', 'Unsupported start tag "br/" at byte offset 0'],
  ['👍é<Foo x>', 'Unsupported start tag "foo" at byte offset 6'],
  ['<b', 'Unclosed start tag at byte offset 0'],
  ['a<b x="1>', 'Unclosed start tag at byte offset 1'],
  ['<b x', 'Unclosed start tag "b" at byte offset 0'],
  ['<b x = ', 'Unclosed start tag "b" at byte offset 0'],
  ['<b x=1', 'Unclosed start tag at byte offset 0'],
  ['<b =1>', 'Empty attribute name in the tag "b" at byte offset 0'],
  ['<b ', 'Empty attribute name in the tag "b" at byte offset 0'],
  ['<b x=a_b>', 'Unexpected end of name token at byte offset 5'],
  ['x</b>', 'Unexpected end tag at byte offset 1'],
  ['<b>x</b', 'Unclosed end tag at byte offset 4'],
  ['<b>x</b y>', 'Unclosed end tag at byte offset 4'],
  ['<b>é</i>', 'Unmatched end tag at byte offset 5, expected "</b>", found "</i>"'],
  ['<b><i>x</i>', 'Can\'t find end tag corresponding to start tag "b"'],
  ['<span>x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
  ['a<span class="x">x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 1'],
  ['<tg-emoji emoji-id="x">a</tg-emoji>', 'Invalid custom emoji identifier specified'],
  ['<tg-emoji emoji-id="0">a</tg-emoji>', 'Invalid custom emoji identifier specified'],
  ['<tg-emoji>a</tg-emoji>', 'Invalid custom emoji identifier specified'],
  ['<tg-time unix="1" format="x">a</tg-time>', 'Invalid date format used'],
  [
    '&#xd83d;',
    'Text contains invalid Unicode characters after decoding HTML entities, ' +
      'check for unmatched surrogate code units',
  ],
]

for (const [source, detail] of cases) {
  t.test(`HTML ${source} is refused: ${detail}`, async (t) => {
    t.equal(
      refusal(() => parseHtml(source)),
      `can't parse entities: ${detail}`,
    )
  })
}
