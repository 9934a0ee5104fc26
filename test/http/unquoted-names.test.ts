/** Names of files that stand without quotes: marked for the parser, however the body arrives, and nothing else is. */
import t from 'tap'
import { originalName, UnquotedNames } from '../../src/http/bot/multipart.ts'
import fc from '../support/fast-check.ts'

const boundary = 'the-boundary'
const type = `multipart/form-data; boundary=${boundary}`

/** What becomes of a body that arrives in pieces of these lengths. */
function guarded(body: string, lengths: readonly number[] = [body.length], contentType = type) {
  const names = new UnquotedNames(contentType)
  const bytes = Buffer.from(body)
  const sizes = lengths.length === 0 ? [bytes.length] : lengths
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length]!
    // A piece of its own: what it is a part of must not matter.
    const piece = Buffer.from(bytes.subarray(at, at + size))
    names.guard(piece)
    piece.copy(bytes, at)
    at += size
  }
  return bytes.toString()
}

const part = (disposition: string, content = '') =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\ncontent-type: a/b; c=d\r\n\r\n${content}\r\n`
const end = `--${boundary}--\r\n`

const marked = (name: string) =>
  name.replaceAll(' ', '\x01').replaceAll('\t', '\x02').replaceAll('"', '\x03')

t.test('only bare names of files are marked, wherever the pieces are cut', async () => {
  const name = fc.string({
    unit: fc.constantFrom('a', ' ', '\t', '"', '.', '=', 'é'),
    minLength: 1,
  })
  // A bare name begins with neither: these stand before it, or quote it.
  const bare = name.filter((text) => !/^[\s"]/.test(text))
  // Pieces of delimiters and of headers, which are none where they stand.
  const content = fc.string({
    unit: fc.constantFrom('\r', '\n', '-', `\r\n--the-bound`, 'filename=a b', 'é', '"', ' '),
  })
  const parts = fc.array(fc.tuple(bare, content, fc.boolean()), { maxLength: 4 })
  const pieces = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 6 })
  await fc.assert(
    fc.property(parts, pieces, (given, lengths) => {
      const body = (shown: (text: string) => string) =>
        given
          .map(([text, words, isQuoted]) => {
            const value = isQuoted ? `"${text.replaceAll('"', '')}"` : shown(text)
            return part(`name="file name"; filename=${value}`, words)
          })
          .join('') + end
      return (
        guarded(
          body((text) => text),
          lengths,
        ) === body(marked)
      )
    }),
  )
})

t.test('what comes before and behind a name does not matter', async (t) => {
  const cases: readonly (readonly [given: string, wanted: string])[] = [
    ['filename=a b; name=c d', 'filename=a\x01b; name=c d'],
    ['FileName=a b', 'FileName=a\x01b'],
    ['name=f;filename=  a b', 'name=f;filename=  a\x01b'],
    ['name=f; filename= "a b"', 'name=f; filename= "a b"'],
    ["filename*=utf-8''a b", "filename*=utf-8''a b"],
    ['name="filename=a b"', 'name="filename=a b"'],
    ['filename=', 'filename='],
  ]
  for (const [given, wanted] of cases) t.equal(guarded(part(given) + end), part(wanted) + end)
  const quoted = 'multipart/form-data; charset=x; boundary="the-boundary"'
  const body = part('filename=a b') + end
  t.equal(guarded(body, [7], quoted), part('filename=a\x01b') + end)
  const other = 'multipart/form-data; boundary=another'
  t.equal(guarded(body, [7], other), body, 'a body in another form is left alone')
})

t.test('no line is dearer than another', (t) => {
  const head = Buffer.from(`--${boundary}\r\n`)
  const cost = (text: string) => {
    const names = new UnquotedNames(type)
    const lines = Buffer.from(`content-disposition:${text.padEnd(1_000, text)}\r\n`.repeat(1_000))
    const before = process.cpuUsage()
    names.guard(head)
    names.guard(lines)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const usual = Math.max(cost('x'), cost('x'))
  for (const text of ['=', ';=', ';filename=', '; filename="";', ';   =']) {
    const dear = Math.min(cost(text), cost(text))
    t.ok(dear < 30 * usual, `${text}: ${dear} µs, and ${usual} µs for letters`)
  }
  t.end()
})

t.test('the marks are taken off again', async (t) => {
  t.equal(originalName(marked('my "last" re\tport .pdf ')), 'my "last" re\tport .pdf')
  t.equal(originalName('plain.txt'), 'plain.txt')
})
