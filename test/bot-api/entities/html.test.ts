/** What each tag of the HTML mode makes of its text. */
import t from 'tap'
import { parseHtml } from '../../../src/bot-api/entities/html.ts'
import { type Shown, show } from './outcome.ts'

const person = { id: 42, is_bot: false, first_name: '' }
const cases: [source: string, text: string, entities: Shown[]][] = [
  [
    '<b>x</b><strong>y</strong>',
    'xy',
    [
      ['bold', 'x'],
      ['bold', 'y'],
    ],
  ],
  [
    '<i>x</i><em>y</em>',
    'xy',
    [
      ['italic', 'x'],
      ['italic', 'y'],
    ],
  ],
  [
    '<u>x</u><ins>y</ins>',
    'xy',
    [
      ['underline', 'x'],
      ['underline', 'y'],
    ],
  ],
  ['<s>x</s>', 'x', [['strikethrough', 'x']]],
  ['<strike>x</strike>', 'x', [['strikethrough', 'x']]],
  ['<del>x</del>', 'x', [['strikethrough', 'x']]],
  ['<tg-spoiler>x</tg-spoiler>', 'x', [['spoiler', 'x']]],
  ['<span class="tg-spoiler">x</span>', 'x', [['spoiler', 'x']]],
  ['<code>x</code>', 'x', [['code', 'x']]],
  ['<code class="language-c">x</code>', 'x', [['code', 'x']]],
  ['<pre>x</pre>', 'x', [['pre', 'x']]],
  ['<pre><code class="language-c">x</code></pre>', 'x', [['pre', 'x', { language: 'c' }]]],
  ['<code class="language-c"><pre>x</pre></code>', 'x', [['pre', 'x', { language: 'c' }]]],
  ['<blockquote>x</blockquote>', 'x', [['blockquote', 'x']]],
  ['<blockquote expandable>x</blockquote>', 'x', [['expandable_blockquote', 'x']]],
  [
    '<a href="https://a.b/?c=1&amp;d">x</a>',
    'x',
    [['text_link', 'x', { url: 'https://a.b/?c=1&d' }]],
  ],
  ["<a href='a.b'>x</a>", 'x', [['text_link', 'x', { url: 'http://a.b/' }]]],
  ['<a>a.b/c</a>', 'a.b/c', [['text_link', 'a.b/c', { url: 'http://a.b/c' }]]],
  ['<a href="nowhere">x</a>', 'x', []],
  ['<a href="tg://user?id=42">x</a>', 'x', [['text_mention', 'x', { user: person }]]],
  [
    '<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji>',
    '👍',
    [['custom_emoji', '👍', { custom_emoji_id: '5368324170671202286' }]],
  ],
  [
    '<tg-time unix="1700000000" format="tDW">x</tg-time>',
    'x',
    [['date_time', 'x', { unix_time: 1_700_000_000, date_time_format: 'wDt' }]],
  ],
  ['<tg-time unix="0">x</tg-time>', 'x', []],
  ['<B>x</b>', 'x', [['bold', 'x']]],
  ['<b>x</>', 'x', [['bold', 'x']]],
  ['<b>x</b  >', 'x', [['bold', 'x']]],
  ['<b id = "1" other=a-1.>x</b>', 'x', [['bold', 'x']]],
  ['<b></b>x', 'x', []],
  [
    '<b>a<i>b</i></b>',
    'ab',
    [
      ['bold', 'ab'],
      ['italic', 'b'],
    ],
  ],
  ['👍<b>👎</b>', '👍👎', [['bold', '👎']]],
  ['&lt;&gt;&amp;&quot;&lt', '<>&"<', []],
  ['&#65;&#x42;&#128077;', 'AB👍', []],
  ['a & b &nbsp; &#0; &#x110000;', 'a & b &nbsp; &#0; &#x110000;', []],
  ['&constructor;', '&constructor;', []],
]

for (const [source, text, entities] of cases) {
  t.test(`HTML ${source} becomes ${text}`, async (t) => {
    const parsed = parseHtml(source)
    t.equal(parsed.text, text)
    t.strictSame(show(parsed), entities)
  })
}
