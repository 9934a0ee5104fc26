/** The end of a poll is told once, whether or not the network tells of it whom it answers as well. */
import t from 'tap'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { ok, startStub, token, update } from '../platforms/upstream-bot/stub.ts'
import { startService } from '../support/service.ts'
import { poller } from './poller.ts'

const stub = await startStub(t)
const service = await startService(t, { env: { TELEGRAM_BOT_API_URL: stub.url } })
const client = await service.client()
const credentialId = await linkBot(client, { token })
const [first, second] = [await poller(client, credentialId), await poller(client, credentialId)]

const poll = (id: string, more: object = {}) => ({
  id,
  question: 'Tea?',
  options: [{ text: 'yes', voter_count: 1 }],
  total_voter_count: 1,
  is_closed: true,
  is_anonymous: true,
  type: 'regular',
  allows_multiple_answers: false,
  ...more,
})
let updates = 9_000
const tell = (state: object) => stub.push({ update_id: updates++, poll: state } as never)
const write = (text: string) => stub.push({ ...update(text), update_id: updates++ })
const stop = async (id: string) => {
  stub.next('stopPoll', ok(poll(id)))
  const { body } = await client.bot(first.key, 'stopPoll', { chat_id: 42, message_id: 5 })
  return body
}
/** The states of polls that a key is told of before this text. */
const statesBefore = async ({ next }: typeof first, text: string) => {
  const states: unknown[] = []
  for (;;) {
    const { message, poll: state } = await next()
    if (message?.text === text) return states
    if (state) states.push(state)
  }
}

t.test('what the answer told already is not told again', async (t) => {
  t.match(await stop('7'), { ok: true, result: { id: '7', is_closed: true } })
  tell(poll('7'))
  write('answered first')
  t.same(await statesBefore(first, 'answered first'), [], 'whoever stopped it has its answer')
  const states = await statesBefore(second, 'answered first')
  t.match(states, [{ id: '7', is_closed: true }])
  t.equal(states.length, 1)
})

t.test('nor what the network told before its answer', async (t) => {
  tell(poll('8'))
  write('told first')
  t.match(await statesBefore(second, 'told first'), [{ id: '8' }])
  t.match(await stop('8'), { ok: true })
  write('and on')
  t.same(await statesBefore(second, 'and on'), [])
})

t.test('votes that are counted late are news, and so is every vote before', async (t) => {
  t.match(await stop('9'), { ok: true })
  tell(poll('9', { total_voter_count: 2 }))
  for (const total_voter_count of [1, 1]) tell(poll('10', { is_closed: false, total_voter_count }))
  write('counted')
  t.match(await statesBefore(second, 'counted'), [
    { id: '9', total_voter_count: 1 },
    { id: '9', total_voter_count: 2 },
    { id: '10', is_closed: false },
    { id: '10', is_closed: false },
  ])
})

t.test('kinds that the reference does not have yet can be asked for, and are kept', async (t) => {
  const ask = (allowed_updates: string[]) =>
    client.bot(first.key, 'getUpdates', { timeout: 0, allowed_updates })
  const allowed = async () =>
    (await client.bot(first.key, 'getWebhookInfo')).body.result.allowed_updates
  await ask(['message', 'a_kind_of_next_year'])
  t.same(await allowed(), ['message', 'a_kind_of_next_year'])
  await service.restart()
  await client.state(credentialId, 'active')
  t.same(await allowed(), ['message', 'a_kind_of_next_year'])
  await ask([])
  t.equal(await allowed(), undefined)
})
