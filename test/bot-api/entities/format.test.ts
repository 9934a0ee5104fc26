/** The whole way of a text: limits and their units, cleaning, margins, and what is found last. */
import t from 'tap'
import { formatText } from '../../../src/bot-api/text.ts'
import { refusal, show } from './outcome.ts'

const text = (source: string, parseMode?: string, entities?: string) =>
  formatText(source, {
    limit: 4096,
    kind: 'text',
    ...(parseMode === undefined ? {} : { parseMode }),
    ...(entities === undefined ? {} : { entities }),
  })
const caption = (source: string) => formatText(source, { limit: 1024, kind: 'caption' })

t.test('texts that cannot be sent are refused', async (t) => {
  t.equal(
    refusal(() => text('')),
    'message text is empty',
  )
  for (const blank of [' \n\t', '\u200b\u00a0\u2800', '\u202e', '\r']) {
    t.equal(
      refusal(() => text(blank)),
      'text must be non-empty',
      JSON.stringify(blank),
    )
  }
  t.equal(
    refusal(() => text('<b></b>', 'HTML')),
    'text must be non-empty',
  )
  t.equal(
    refusal(() => text('a\ud800')),
    'strings must be encoded in UTF-8',
  )
  t.equal(
    refusal(() => text('x', 'bbcode')),
    'unsupported parse_mode',
  )
})

t.test('the raw text is limited in bytes, the parsed text in code points', async (t) => {
  t.equal(
    refusal(() => text('é'.repeat(16_385), 'HTML')),
    'text is too long',
  )
  t.equal(
    refusal(() => text('é'.repeat(16_384))),
    'message is too long',
  )
  t.equal(
    refusal(() => text('a'.repeat(4097))),
    'message is too long',
  )
  t.equal(text('👍'.repeat(4096)).text.length, 8192)
  t.equal(text(`<b>${'a'.repeat(4096)}</b>  `, 'HTML').text.length, 4096)
  t.equal(
    refusal(() => caption('a'.repeat(1025))),
    'message caption is too long',
  )
  t.equal(caption('👍'.repeat(1024)).text.length, 2048)
})

t.test('a caption may be empty', async (t) => {
  t.strictSame(caption(''), { text: '', entities: [] })
  t.strictSame(caption(' \n'), { text: '', entities: [] })
})

t.test('the parse mode is read in any case, and none means none', async (t) => {
  for (const mode of ['html', 'HTML', 'Html']) t.equal(text('<b>x</b>', mode).text, 'x')
  t.equal(text('*x*', 'MARKDOWNV2').text, 'x')
  t.equal(text('*x*', 'markdown').text, 'x')
  for (const mode of ['', 'none', 'None']) t.equal(text('*x*', mode).text, '*x*')
})

t.test('entities are ignored when a parse mode is given', async (t) => {
  t.strictSame(text('x', 'HTML', 'not JSON').entities, [])
})

t.test('controls become spaces, and what only disturbs goes', async (t) => {
  t.equal(text('a\tb\0c\r\nd\u2028\u202ee\u0333\u033f\u030af').text, 'a b c\ndef')
  t.equal(text('a\u200f\u200e\u200fb').text, 'a\u200c\u200c\u200fb')
})

t.test('margins go, but not what an entity covers at the start', async (t) => {
  t.strictSame(text(' \n x \n').text, 'x')
  t.strictSame(text(' <b> x </b> ', 'HTML'), {
    text: ' x',
    entities: [{ type: 'bold', offset: 0, length: 2 }],
  })
})

t.test('entities move along with the characters that go', async (t) => {
  t.strictSame(show(text('  a\r<b>b\r</b><i>\r</i><u>c</u>', 'HTML')), [
    ['bold', 'b'],
    ['underline', 'c'],
  ])
  t.strictSame(show(text('<b>a</b>\r<b>b</b>', 'HTML')), [['bold', 'ab']])
})

t.test('what the text carries by itself is added, in order and not inside code', async (t) => {
  t.strictSame(show(text('/go <code>@durov</code> <a href="a.b">c.org</a> x@y.org', 'HTML')), [
    ['bot_command', '/go'],
    ['code', '@durov'],
    ['text_link', 'c.org', { url: 'http://a.b/' }],
    ['email', 'x@y.org'],
  ])
})
