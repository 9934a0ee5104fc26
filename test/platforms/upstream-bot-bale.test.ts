/** Bale speaks the bot API with differences: what it lacks is refused here, what it names otherwise is asked for so. */
import t from 'tap'
import type { Operation } from '../../machines/model/operation.ts'
import { bale } from '../../src/platforms/upstream-bot/flavour.ts'
import { contents, operations } from './contract/samples.ts'
import { perform, refusalOf } from './contract/scene.ts'
import { ok, session, startStub, update } from './upstream-bot/stub.ts'

const stub = await startStub(t)
const open = await session(t, stub.url, bale)
await open.reported('opened')
const asked = (method: string) => stub.asked.findLast((call) => call.method === method)?.body
const { message } = update('sent')

t.test('updates are asked for without a filter', async (t) => {
  stub.push(update('سلام'))
  await open.store.message('سلام')
  t.hasOwnProps(asked('getUpdates')!, ['timeout', 'limit'])
  t.notOk('allowed_updates' in asked('getUpdates')!)
})

t.test('texts go out plain, with the targets of their links beside them', async (t) => {
  stub.next('sendMessage', ok(message))
  const entities = [
    { type: 'bold', offset: 0, length: 4 },
    { type: 'text_link', offset: 5, length: 4, url: 'https://chapar.test' },
  ]
  const content = { kind: 'text' as const, text: 'bold link', entities }
  await perform(open, { kind: 'send', chat: '42', content, replyTo: '7', replyOptional: true })
  t.strictSame(asked('sendMessage'), {
    chat_id: 42,
    text: 'bold link (https://chapar.test)',
    reply_to_message_id: 7,
    allow_sending_without_reply: true,
  })
})

t.test('its own names of methods are used', async (t) => {
  stub.next('getChatMembersCount', ok(3))
  const counted = await perform(open, { kind: 'count_members', chat: '42' })
  t.strictSame(counted, { kind: 'number', number: 3 })
  stub.next('unPinChatMessage', ok(true))
  t.match(await perform(open, { kind: 'unpin', chat: '42' }), { kind: 'done' })
})

t.test('forwards in the older form tell where they came from', async (t) => {
  const channel = { id: 77, type: 'channel', title: 'News' }
  const more = {
    forward_from_chat: channel,
    forward_from_message_id: 5,
    forward_date: 1_600_000_000,
  }
  stub.push(update('passed on', more))
  const happening = await open.store.message('passed on')
  t.match(happening, {
    message: { forward: { from: 'chat', chat: { native: '77' }, message: '5', at: 1_600_000_000 } },
  })
})

t.test('what it does not have is refused without asking', async (t) => {
  const before = stub.asked.length
  const { operations: declared, content: known } = bale.capabilities
  const missing = Object.entries(operations)
    .filter(([kind]) => !declared.some((name) => name === kind))
    .map(([, sample]) => sample('42'))
  const unknown = contents
    .filter(({ kind }) => ['poll', 'dice'].includes(kind))
    .map((content): Operation => ({ kind: 'send', chat: '42', content }))
  t.ok(missing.length > 5 && unknown.length === 2 && !known.some((name) => name === 'poll'))
  for (const operation of [...missing, ...unknown]) {
    const description = /is not supported on Bale$/
    t.match(await refusalOf(perform(open, operation)), { code: 'bad_request', description })
  }
  const since = stub.asked.slice(before).filter(({ method }) => method !== 'getUpdates')
  t.strictSame(since, [])
})
