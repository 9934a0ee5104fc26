/** Limits that the environment sets: calls of a user, calls in flight, wrong keys, one-time codes. */
import t from 'tap'
import { ask } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { raw, troubledAccount } from './scene.ts'

const env = {
  CALLS_IN_FLIGHT: '2',
  USER_CALLS_PER_MINUTE: '120',
  WRONG_KEYS_PER_HOUR: '3',
  OTP_SENDS_PER_PHONE: '1',
  OTP_LENGTH: '8',
}
const service = await startService(t, { env })
const { url } = service

const limited = (most: number) => ({
  status: 429,
  headers: { 'retry-after': /^[1-9]\d*$/ },
  body: {
    ok: false,
    error_code: 429,
    description: /^Too Many Requests: retry after \d+$/,
    parameters: { retry_after: (seconds: number) => seconds <= most },
  },
})

t.test('calls of one key at the same time', async (t) => {
  const { fault, clear, state, client, key, ada } = await troubledAccount(service, 'busybot')
  await fault('delay', { milliseconds: 500 })
  const path = `/bot${key}/sendMessage?chat_id=${ada.id}&text=hi`
  const answers = await Promise.all(['a', 'b', 'c'].map(() => raw(url, path)))
  const statuses = answers.map(({ status }) => status).sort()
  t.same(statuses, [200, 200, 429])
  const refusal = answers.find(({ status }) => status === 429)
  t.match(refusal, {
    headers: { 'retry-after': /^60$/ },
    body: { parameters: { retry_after: 60 } },
  })
  await clear()
  // So slow an answer may have looked like none.
  await state('active')
  t.match(await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'hi' }), { status: 200 })
})

t.test('calls of one user in a minute', async (t) => {
  const [hasty, patient] = [await service.client(), await service.client()]
  const headers = { authorization: `Bearer ${hasty.token}` }
  const statuses = new Set<number | undefined>()
  for (let n = 0; n < 120; n++) statuses.add((await raw(url, '/user', { headers })).status)
  // The limit grows again while it is used up.
  let answer = await raw(url, '/user', { headers })
  for (let n = 0; n < 60 && answer.status === 200; n++)
    answer = await raw(url, '/user', { headers })
  t.same([...statuses], [200])
  t.match(answer, { ...limited(1), body: { error_code: 429 } })
  t.match(await patient.ask('GET', '/user'), { status: 200 }, 'another user has an own limit')
})

t.test('wrong keys of one address in an hour', async (t) => {
  const guess = () => raw(url, `/bot200000:${'a'.repeat(43)}/getMe`)
  for (const _ of 'abc') t.equal((await guess()).status, 401)
  const answer = await guess()
  t.equal(answer.status, 429)
  t.ok(answer.body.parameters.retry_after > 60, 'longer than a minute')
})

t.test('one-time codes of one phone in a day, and their length', async (t) => {
  const phone = '+14155557701'
  t.match(await ask(url, 'POST', '/auth/sendOtp', { phone }), { status: 200 })
  t.match(await ask(url, 'POST', '/auth/sendOtp', { phone }), { status: 429 })
})
