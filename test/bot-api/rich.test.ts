/** Rich messages: read from blocks, HTML and Markdown, and rendered as a text for networks that have none. */
import t from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { RichBlock } from '../../machines/model/rich.ts'
import { blocksOfHtml } from '../../src/bot-api/rich/html.ts'
import { blocksOfMarkdown } from '../../src/bot-api/rich/markdown.ts'
import { BlockReader } from '../../src/bot-api/rich/read.ts'
import { buttonsWithin, renderRich } from '../../src/bot-api/rich/render.ts'
import { busyMs } from '../support/busy.ts'

const picture = { kind: 'photo', file: { blob: 'b' } } as const
const reader = () => new BlockReader(async () => ({ media: picture }))
const read = (blocks: unknown) => reader().blocks(blocks)
const media = (kind: string, source: string) => ({ type: kind, [kind]: { media: source } })
const refusal = async (blocks: unknown) => {
  const cause: unknown = await read(blocks).catch((cause) => cause)
  return cause instanceof RequestFailed ? cause.failure.description : cause
}
/** The words of each entity with its type. */
const marksOf = (blocks: readonly RichBlock[]) => {
  const { text, entities } = renderRich(blocks)
  return entities.map(({ type, offset, length }) => [type, text.slice(offset, offset + length)])
}

const text = 'words'
const file = { media: 'attach://file' }
const captioned = { caption: { text: 'seen', credit: 'Ada' } }
const button = { text: 'Go', callback_data: 'go' }

/** Every block of the reference as it is written, and as it is rendered. */
const BLOCKS: readonly (readonly [given: object, rendered: string])[] = [
  [{ type: 'paragraph', text }, 'words'],
  [{ type: 'heading', text, size: 2 }, 'words'],
  [{ type: 'pre', text, language: 'js' }, 'words'],
  [{ type: 'footer', text }, 'words'],
  [{ type: 'divider' }, '———'],
  [{ type: 'mathematical_expression', expression: 'x^2' }, 'x^2'],
  [{ type: 'anchor', name: 'top' }, ''],
  [
    {
      type: 'list',
      items: [
        { blocks: [{ type: 'paragraph', text: 'a' }], value: 3, type: '1' },
        { blocks: [{ type: 'paragraph', text: 'b' }], type: 'I' },
        { blocks: [{ type: 'paragraph', text: 'c' }], has_checkbox: true, is_checked: true },
        {
          blocks: [
            { type: 'paragraph', text: 'd' },
            { type: 'paragraph', text: 'e' },
          ],
        },
      ],
    },
    '3. a\nIV. b\n☑ c\n• d\ne',
  ],
  [{ type: 'blockquote', blocks: [{ type: 'paragraph', text }], credit: 'Ada' }, 'words\n— Ada'],
  [{ type: 'expandable_blockquote', text, credit: 'Ada' }, 'words\n— Ada'],
  [{ type: 'pullquote', text }, 'words'],
  [{ type: 'collage', blocks: [{ type: 'photo', photo: file }], ...captioned }, 'seen\n— Ada'],
  [{ type: 'slideshow', blocks: [{ type: 'photo', photo: file }], ...captioned }, 'seen\n— Ada'],
  [
    {
      type: 'table',
      cells: [
        [{ text: 'name', is_header: true }, { text: 'n' }],
        [{ text: 'a', colspan: 2 }],
        [{ text: 'b' }, {}],
      ],
      caption: 'all',
    },
    'name | n\na    |\nb    |\nall',
  ],
  [{ type: 'details', summary: 'more', blocks: [{ type: 'paragraph', text }] }, 'more\n\nwords'],
  [{ type: 'map', location: { latitude: 1, longitude: 2 }, ...captioned }, '1, 2\nseen\n— Ada'],
  [
    { type: 'buttons', buttons: [button, { text: 'Web', url: 'https://a.example/' }] },
    '[Go] [Web]',
  ],
  ...['animation', 'audio', 'document', 'photo', 'video', 'voice_note'].map(
    (type) => [{ type, [type]: file, ...captioned }, 'seen\n— Ada'] as const,
  ),
  [{ type: 'thinking', text }, 'words'],
]

t.test('each block of the reference is read and rendered', async (t) => {
  for (const [given, rendered] of BLOCKS) {
    const { type } = given as { type: string }
    const blocks = await read([given])
    t.match(blocks, [{ type }], type)
    t.equal(renderRich(blocks).text, rendered, type)
    const isFile = /photo|video|voice|audio|document|animation|collage|slideshow/.test(type)
    t.equal(renderRich(blocks).media.length, isFile ? 1 : 0, type)
  }
  const all = await read(BLOCKS.map(([given]) => given))
  const { text: whole, entities } = renderRich(all)
  for (const { offset, length } of entities) t.ok(offset + length <= whole.length)
  t.notMatch(whole, /\n{3}/)
  t.match(buttonsWithin(all), [button, { url: 'https://a.example/' }])
})

t.test('each kind of text is read, and those with an entity keep it', async (t) => {
  const known = [
    ...['bold', 'italic', 'underline', 'strikethrough', 'spoiler', 'code'].map((type) => ({
      type,
      text,
    })),
    { type: 'date_time', text, unix_time: 7, date_time_format: 't' },
    { type: 'text_mention', text, user: { id: 7, is_bot: false, first_name: 'Ada' } },
    { type: 'custom_emoji', custom_emoji_id: '5', alternative_text: text },
  ]
  for (const piece of known) {
    t.strictSame(marksOf(await read([{ type: 'paragraph', text: ['so ', piece] }])), [
      [piece.type, text],
    ])
  }
  const link = { type: 'url', text, url: 'https://a.example/' }
  t.strictSame(marksOf(await read([{ type: 'paragraph', text: link }])), [['text_link', text]])
  const math = { type: 'mathematical_expression', expression: 'x' }
  t.strictSame(marksOf(await read([{ type: 'paragraph', text: math }])), [['code', 'x']])
  const plain = [
    ...['subscript', 'superscript', 'marked'].map((type) => ({ type, text })),
    { type: 'email_address', text, email_address: 'a@a.example' },
    { type: 'phone_number', text, phone_number: '+1' },
    { type: 'bank_card_number', text, bank_card_number: '4' },
    { type: 'mention', text, username: 'ada' },
    { type: 'hashtag', text, hashtag: 'tea' },
    { type: 'cashtag', text, cashtag: 'TEA' },
    { type: 'bot_command', text, bot_command: 'tea' },
    { type: 'anchor_link', text, anchor_name: 'top' },
    { type: 'reference', text, name: 'one' },
    { type: 'reference_link', text, reference_name: 'one' },
  ]
  for (const piece of plain) {
    const blocks = await read([{ type: 'paragraph', text: piece }])
    t.strictSame([renderRich(blocks).text, marksOf(blocks)], [text, []], piece.type)
  }
  const nested = { type: 'bold', text: ['a', { type: 'italic', text: 'b' }] }
  t.strictSame(marksOf(await read([{ type: 'paragraph', text: nested }])), [
    ['bold', 'ab'],
    ['italic', 'b'],
  ])
  const inText = { type: 'button', button }
  const blocks = await read([
    { type: 'paragraph', text: ['or ', inText, { type: 'anchor', name: 'x' }] },
  ])
  t.equal(renderRich(blocks).text, 'or [Go]')
  t.match(buttonsWithin(blocks), [button])
})

t.test('what is no rich message is refused with the place', async (t) => {
  const wrong: readonly (readonly [given: unknown, problem: string])[] = [
    [7, 'blocks must be an array'],
    [[7], 'a block must be an object'],
    [[{ type: 'novel' }], 'a block of the type "novel" is not known'],
    [[{ type: 'paragraph' }], 'the text of a paragraph must be an object'],
    [[{ type: 'paragraph', text: { type: 'big', text } }], 'text of the type "big" is not known'],
    [[{ type: 'paragraph', text: { type: 'url', text } }], 'url needs "url"'],
    ...[
      [{ type: 'url', text, url: {} }, '"url" of url must be a string'],
      [
        { type: 'mathematical_expression', expression: ['x'] },
        '"expression" of mathematical_expression must be a string',
      ],
      [
        { type: 'custom_emoji', custom_emoji_id: '5', alternative_text: {} },
        '"alternative_text" of custom_emoji must be a string',
      ],
      [{ type: 'date_time', text, unix_time: '7' }, '"unix_time" of date_time must be a number'],
      [{ type: 'text_mention', text, user: 7 }, '"user" of text_mention must be an object'],
    ].map(([piece, problem]) => [[{ type: 'paragraph', text: piece }], `${problem}`] as const),
    [[{ type: 'heading', text, size: 7 }], 'a heading has the size 1 to 6'],
    [[{ type: 'collage', blocks: [{ type: 'divider' }] }], 'a collage shows media only'],
    [[{ type: 'buttons', buttons: [{ text: 'x' }] }], 'a button does exactly one thing'],
    [Array.from({ length: 501 }, () => ({ type: 'divider' })), 'it has too many blocks'],
  ]
  for (const [given, problem] of wrong) {
    t.equal(await refusal(given), `can't parse rich message: ${problem}`)
  }
  const long = { text: 'x', callback_data: 'x'.repeat(65) }
  t.equal(await refusal([{ type: 'buttons', buttons: [long] }]), 'BUTTON_DATA_INVALID')
  const deep = (depth: number): object =>
    depth === 0 ? { type: 'divider' } : { type: 'blockquote', blocks: [deep(depth - 1)] }
  t.equal(await refusal([deep(30)]), "can't parse rich message: it is nested too deeply")
})

t.test('HTML becomes blocks', async (t) => {
  const html = `
    <h2>Tea &amp; <i>cake</i></h2>
    First <b>line</b><br>second
    <p>A <a href="https://a.example/">link</a>, <a href="#top">up</a></p>
    <ul><li>one</li><li><input type="checkbox" checked>two</li></ul>
    <ol start="4"><li>four<ul><li>inner</li></ul></li></ol>
    <blockquote expandable>long</blockquote>
    <blockquote><p>short</p><cite>Ada</cite></blockquote>
    <pre><code class="language-js">let a = 1 &lt; 2</code></pre>
    <table bordered><tr><th>a</th><td colspan="2">b</td></tr></table>
    <details open><summary>more</summary>inside</details>
    <hr>
    <figure><img src="tg://photo?id=1"><figcaption>seen</figcaption></figure>`
  const blocks = await read(blocksOfHtml(html, media))
  t.match(blocks, [
    { type: 'heading', size: 2, text: ['Tea & ', { type: 'italic', text: 'cake' }] },
    { type: 'paragraph', text: ['First ', { type: 'bold' }, '\n', 'second'] },
    { type: 'paragraph', text: ['A ', { type: 'url' }, ', ', { type: 'anchor_link' }] },
    { type: 'list', items: [{ label: '•' }, { has_checkbox: true, is_checked: true }] },
    { type: 'list', items: [{ label: '4.', value: 4, blocks: [{}, { type: 'list' }] }] },
    { type: 'expandable_blockquote', text: 'long' },
    { type: 'blockquote', credit: 'Ada', blocks: [{ text: 'short' }] },
    { type: 'pre', text: 'let a = 1 < 2', language: 'js' },
    { type: 'table', is_bordered: true, cells: [[{ is_header: true }, { colspan: 2 }]] },
    { type: 'details', is_open: true, summary: 'more' },
    { type: 'divider' },
    { type: 'photo', media: picture, caption: { text: 'seen' } },
  ])
  t.equal(blocks.length, 12)
  for (const wrong of ['<b>x', '<p>x</b></p>', '<blink>x</blink>']) {
    t.throws(() => blocksOfHtml(wrong, media), RequestFailed, wrong)
  }
})

t.test('Markdown becomes blocks', async (t) => {
  const markdown = [
    '# Tea',
    'A **bold *and slanted*** word, `code`, ||secret|| and [a link](https://a.example/)',
    'with snake_case_words and 2 * 3 * 4',
    '',
    '- one',
    '  - inner',
    '- [x] two',
    '1. first',
    '> quoted',
    '> > twice',
    '',
    '```js',
    'let a = 1',
    '```',
    '| a | b |',
    '|---|--:|',
    '| 1 | 2 |',
    '---',
    '$$',
    'x^2',
    '$$',
    '![seen](tg://photo?id=1)',
  ].join('\n')
  const blocks = await read(blocksOfMarkdown(markdown, media))
  t.match(blocks, [
    { type: 'heading', size: 1, text: 'Tea' },
    { type: 'paragraph' },
    {
      type: 'list',
      items: [
        { blocks: [{ text: 'one' }, { type: 'list' }] },
        { has_checkbox: true, is_checked: true },
        { label: '1.', value: 1 },
      ],
    },
    { type: 'blockquote', blocks: [{ text: 'quoted' }, { type: 'blockquote' }] },
    { type: 'pre', text: 'let a = 1', language: 'js' },
    {
      type: 'table',
      cells: [
        [{ is_header: true }, { align: 'right' }],
        [{ text: /^1$/ }, {}],
      ],
    },
    { type: 'divider' },
    { type: 'mathematical_expression', expression: 'x^2' },
    { type: 'photo', media: picture, caption: { text: 'seen' } },
  ])
  const { text: whole } = renderRich(blocks.slice(1, 2))
  t.equal(
    whole,
    'A bold and slanted word, code, secret and a link\nwith snake_case_words and 2 * 3 * 4',
  )
  t.strictSame(
    marksOf(blocks.slice(1, 2)).map(([type]) => type),
    ['bold', 'italic', 'code', 'spoiler', 'text_link'],
  )
})

t.test('what HTML has for one string has no formatting, whatever is marked in it', async (t) => {
  t.strictSame(
    blocksOfHtml('<p><tg-math>x<sub>1</sub> &lt;<br> y<!-- so --></tg-math></p>', media),
    [{ type: 'paragraph', text: { type: 'mathematical_expression', expression: 'x1 < y' } }],
  )
  t.strictSame(blocksOfHtml('<tg-math-block>x<b>2</b></tg-math-block>', media), [
    { type: 'mathematical_expression', expression: 'x2' },
  ])
  t.strictSame(blocksOfHtml('<p><tg-emoji emoji-id="5"><b>o</b>k</tg-emoji></p>', media), [
    {
      type: 'paragraph',
      text: { type: 'custom_emoji', custom_emoji_id: '5', alternative_text: 'ok' },
    },
  ])
  t.strictSame(blocksOfHtml('<pre>one<br>two</pre>', media), [{ type: 'pre', text: 'one\ntwo' }])
})

t.test('long hostile Markdown and HTML are read in no more than a moment', async (t) => {
  const size = 131_072
  const long = (piece: string) => piece.repeat(size / piece.length)
  const half = long('\t').slice(size / 2)
  const markdown = [
    ...[`|a|\n${half}-:${half}x`, `# a${half}#x`, `# ${half}x`, `* [ ] ${long(' ')}`],
    ...[`\`\`\`${long(' ')}\0`, `a ${long('`')}${long('a')}`, `a ${long('[')}](`, long('[a](')],
    ...[long('*a '), long('**a '), long('||a '), long('$a '), long('|'), `a${long('*')}`],
    ...[long('>'), long('- '), long('>a\n'), long('|a|\n'), long('![]('), long('\\')],
  ]
  const html = [`<A${long('A')}'>`, long('<!--'), long('<a "'), long("<a 'b"), `<a ${long('b ')}>`]
  const forms = [
    [blocksOfMarkdown, markdown],
    [blocksOfHtml, html],
  ] as const
  for (const [read, texts] of forms) {
    for (const text of texts) {
      const took = await busyMs(() => {
        try {
          read(text, media)
        } catch (cause) {
          t.ok(cause instanceof RequestFailed, `${cause}`)
        }
      })
      t.ok(took < 3_000, `${text.slice(0, 12)}: ${took} ms`)
    }
  }
})

t.test('a line of nothing but marks stays readable', async (t) => {
  t.equal(
    renderRich(await read(blocksOfMarkdown(`Title\n${'='.repeat(200)}`, media))).text.slice(0, 5),
    'Title',
  )
  const deep = await read(
    blocksOfMarkdown('**x __x ~~x ||x ==x *x _a_ x* x== x|| x~~ x__ x**', media),
  )
  t.equal(marksOf(deep).length, 6, 'as many marks as there are')
  const shown = (text: string) => renderRich(blocksOfMarkdown(text, media) as never).text
  t.equal(shown('``a` b'), '``a` b', 'backticks that nothing closes')
  t.equal(shown('### C# ###'), 'C#')
  t.equal(shown('&constructor; a'), '&constructor; a')
})

t.test('names that every object has are names like any other', async (t) => {
  t.throws(() => blocksOfHtml('<constructor>a</constructor>', media), RequestFailed)
  const [paragraph] = blocksOfHtml('a &constructor; &valueOf; &lt;', media)
  t.equal(paragraph?.text, 'a &constructor; &valueOf; <')
  t.match(blocksOfMarkdown('![](tg://constructor?id=1)', media), [{ type: 'photo' }])
})
