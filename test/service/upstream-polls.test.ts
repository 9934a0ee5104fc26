/** A bot behind the gateway is told of polls what its network tells, and gets kinds of updates that are new. */
import t from 'tap'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { ok, startStub, token, update } from '../platforms/upstream-bot/stub.ts'
import { exemptFromReference } from '../support/reference-check.ts'
import { startService } from '../support/service.ts'
import { poller } from './poller.ts'

// The stub sends polls of an older version of the reference, which pass as they are.
exemptFromReference()

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

t.test(
  'what the network tells of a poll every key is told, also the one that stopped it',
  async (t) => {
    t.match(await stop('7'), { ok: true, result: { id: /^7$/, is_closed: true } })
    tell(poll('7'))
    for (const total_voter_count of [1, 1]) tell(poll('8', { is_closed: false, total_voter_count }))
    write('and on')
    for (const reader of [first, second]) {
      t.match(await statesBefore(reader, 'and on'), [
        { id: /^7$/, is_closed: true },
        { id: /^8$/, is_closed: false },
        { id: /^8$/, is_closed: false },
      ])
    }
  },
)

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
