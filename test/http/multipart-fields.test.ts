/** What is kept of a multipart body that is passed on while it comes: its parameters, within their bounds. */
import t from 'tap'
import { MultipartFields } from '../../src/http/bot/multipart-fields.ts'
import { TooLarge } from '../../src/media/spool.ts'

const limits = { parameterBytes: 10_000, fileBytes: 1_000_000, totalBytes: 10_000_000 }
const fields = () => new MultipartFields('multipart/form-data; boundary=b', limits)
const part = (name: string, value = '') =>
  Buffer.from(`\r\n--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}`)

t.test('the first value of a name counts', (t) => {
  const form = fields()
  for (const piece of [part('chat_id', '1'), part('text', 'hi'), part('chat_id', '2'), part('')]) {
    form.take(piece)
  }
  t.same(
    [...form.fields],
    [
      ['chat_id', '1'],
      ['text', 'hi'],
    ],
  )
  t.end()
})

t.test('names cost as much as values: a million of them are too many', (t) => {
  const long = fields()
  t.throws(() => {
    for (let n = 0; n < 1_000; n++) long.take(part(`${'x'.repeat(1_000)}${n}`))
  }, TooLarge)
  t.ok(long.fields.size < 10, `${long.fields.size} names`)
  const short = fields()
  t.throws(() => {
    for (let n = 0; n < 1_000_000; n++) short.take(part(`${n}`))
  }, TooLarge)
  t.ok(short.fields.size < 1_000, `${short.fields.size} names`)
  t.end()
})

t.test('files are counted by themselves', (t) => {
  const form = fields()
  form.take(part('a"; filename="f', 'x'.repeat(100_000)))
  form.take(part('caption', 'after it'))
  form.take(part(''))
  t.ok(form.hasFile)
  t.equal(form.fields.get('caption'), 'after it')
  t.end()
})
