/** Formatting becomes the marks of message styling and marks become formatting, without loss where both have a word. */
import t from 'tap'
import type { TextEntity } from '../../machines/model/text.ts'
import { readStyled } from '../../src/platforms/xmpp/styling/read.ts'
import { writeStyled } from '../../src/platforms/xmpp/styling/write.ts'
import { busyMs } from '../support/busy.ts'

const entity = (type: string, offset: number, length: number, more: object = {}): TextEntity => ({
  type,
  offset,
  length,
  ...more,
})

t.test('what can be expressed comes back as it was', async (t) => {
  const texts: [string, ...TextEntity[]][] = [
    ['bold it code', entity('bold', 0, 4), entity('italic', 5, 2), entity('code', 8, 4)],
    ['👋 سلام دنیا', entity('bold', 3, 4)],
    ['all of it', entity('bold', 0, 9), entity('italic', 4, 2)],
    ['both', entity('bold', 0, 4), entity('italic', 0, 4)],
    ['q1\nq2\nafter', entity('blockquote', 0, 5), entity('bold', 3, 2)],
    ['before\nlet x\n  = 1\nafter', entity('pre', 7, 11, { language: 'js' })],
    ['gone', entity('strikethrough', 0, 4)],
  ]
  for (const [text, ...entities] of texts) {
    t.strictSame(readStyled(writeStyled({ text, entities })), { text, entities }, text)
  }
})

t.test('marks are marks only where the standard says so', async (t) => {
  for (const text of ['snake_case_name', '2*3*4', '**', '* a *', '*a *', 'a *b', '_', '*a\nb*']) {
    t.strictSame(readStyled(text), { text, entities: [] }, text)
  }
  t.strictSame(readStyled('`*a*` *`b`*'), {
    text: '*a* b',
    entities: [entity('code', 0, 3), entity('bold', 4, 1), entity('code', 4, 1)],
  })
})

t.test('what cannot be expressed stays readable', async (t) => {
  t.equal(writeStyled({ text: 'midword', entities: [entity('bold', 3, 2)] }), 'midword')
  t.equal(writeStyled({ text: ' a b ', entities: [entity('bold', 0, 5)] }), ' *a b* ')
  t.equal(writeStyled({ text: 'two\nlines', entities: [entity('bold', 0, 9)] }), '*two*\n*lines*')
  t.equal(writeStyled({ text: 'a*b', entities: [entity('bold', 0, 3)] }), 'a*b')
  t.equal(
    writeStyled({ text: 'hi pre end', entities: [entity('pre', 3, 3)] }),
    'hi \n```\npre\n```\n end',
  )
  const link = entity('text_link', 4, 4, { url: 'https://x.test' })
  const crossing = [entity('bold', 4, 8), link]
  t.equal(
    writeStyled({ text: 'see this now', entities: crossing }),
    'see *this (https://x.test) now*',
  )
  const overlap = [entity('bold', 0, 5), entity('italic', 4, 5)]
  t.equal(writeStyled({ text: 'one two six', entities: overlap }), '*one t*wo six')
})

t.test('quotations and blocks nest and end where they should', async (t) => {
  t.strictSame(readStyled('> a *b*\n>> c\nd\n```\nopen'), {
    text: 'a b\nc\nd\nopen',
    entities: [entity('blockquote', 0, 5), entity('bold', 2, 1), entity('pre', 8, 4)],
  })
})

t.test('a text made to be slow is not', async (t) => {
  const took = await busyMs(() => {
    for (const text of ['*a ', '*_', '>', '`a _b '].map((part) => part.repeat(30_000))) {
      t.ok(readStyled(text).text.length > 0)
    }
  })
  t.ok(took < 2_000, `${took} ms`)
})

t.test('a text of very many blocks is read once', async (t) => {
  // Looked through from the start for each of its blocks, it would keep the test busy for minutes.
  for (const block of ['> \na\n', '```\n```\n']) {
    t.equal(readStyled(block.repeat(300_000)).entities.length, 0)
  }
})

t.test('a text of more formatting than anybody writes stays as it is', async (t) => {
  for (const text of ['*a* '.repeat(200_000), `> ${'_a_ '.repeat(200_000)}`]) {
    t.strictSame(readStyled(text), { text, entities: [] })
  }
  t.equal(readStyled('*a* '.repeat(1_000)).entities.length, 1_000)
})
