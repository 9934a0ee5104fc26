/** Any query at all: the reading routes answer or refuse, they never break. */

import t from 'tap'
import fc from '../support/fast-check.ts'
import { observedServer } from './observability-rig.ts'

const names = fc.constantFrom(
  'limit',
  'before',
  'api_key_id',
  'credential_id',
  'error_code',
  'from',
  'to',
  'step',
  '__proto__',
)
const numbers = fc.oneof(fc.integer(), fc.double(), fc.bigInt(), fc.constantFrom(2 ** 53 + 1, -0))
const times = fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
const cursors = fc.tuple(fc.nat(), fc.nat()).map((parts) => parts.join('-'))
const values = fc.oneof(
  numbers.map(String),
  times,
  cursors,
  fc.constantFrom('hour', 'day', '', '\0', '\ud800', 'null', '[]', '1e400'),
  fc.string({ unit: 'binary' }),
)

t.test('no query makes the reading routes fail', async (t) => {
  const { app, journal } = await observedServer(t)
  await journal.flush()
  const encode = (text: string) => encodeURIComponent(text.toWellFormed())
  const query = fc
    .array(fc.tuple(names, values), { maxLength: 6 })
    .map((pairs) => pairs.map(([name, value]) => `${name}=${encode(value)}`).join('&'))
  const paths = fc.constantFrom('/user/logs/api-requests', '/user/usage')
  await fc.assert(
    fc.asyncProperty(paths, query, async (path, text) => {
      const reply = await app.inject({ url: `${path}?${text}`, headers: { 'x-user': '1' } })
      const { ok, error_code } = reply.json()
      const isRefused = reply.statusCode === 400 && ok === false && error_code === 400
      return isRefused || (reply.statusCode === 200 && ok === true)
    }),
    { numRuns: 1_500 },
  )
})
