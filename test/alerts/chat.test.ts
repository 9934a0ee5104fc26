/** Notifications by chat: one that may have arrived is not sent a second time. */
import t, { type Test } from 'tap'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import type { PerformOperation } from '../../machines/credential/events.ts'
import { failed, type RequestFailed } from '../../machines/model/failure.ts'
import type { CallExecution } from '../../src/bot-api/execute.ts'
import { IdempotentCalls } from '../../src/bot-api/idempotency.ts'
import type { Queryable } from '../../src/database/database.ts'
import { quietLogger } from '../support/logger.ts'
import { rig } from './rig.ts'

const KEY = 100_001
const LATE = 'no answer; the message may have been sent'
const uncertain = () => failed('timeout', LATE, { reason: 'sent_unconfirmed', certain: false })

/** A chat on a network whose answers are these; undefined is a success. */
async function scene(
  t: Test,
  sends: Platform['sends'],
  answers: readonly (RequestFailed | undefined)[],
) {
  const asked: { readonly callId: string | undefined; readonly isRepeated: boolean }[] = []
  const platform = {
    sends,
    capabilities: {
      operations: ['send'],
      content: ['text'],
      surfaces: ['private'],
      entities: [],
      limits: { textLength: 1_000 },
    },
  } as unknown as Platform
  const credential = {
    snapshot: { value: 'connecting' },
    async ask({ callId, isRepeated = false }: PerformOperation) {
      const answer = answers[asked.length]
      asked.push({ callId, isRepeated })
      if (answer) throw answer
      return { message_id: 1 }
    },
  }
  const key = {
    facts: { apiKeyId: KEY, credentialId: 7 },
    admit: async () => undefined,
    inFlight: (run: () => unknown) => run(),
  } as unknown as ApiKeyActor
  const later: { db?: Queryable } = {}
  const query: Queryable['query'] = (...given) => later.db!.query(...given)
  const execution = {
    credentials: { platformOf: async () => platform, ready: async () => credential },
    world: {},
    idempotentCalls: new IdempotentCalls({ query }, quietLogger),
  } as unknown as CallExecution
  const parts = await rig(t, { keys: { find: async () => key }, execution })
  const { database, save, out, at, notifier, evaluate, notifications } = parts
  later.db = database
  await out([7])
  await database.query(
    `insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor)
     overriding system value values ($1, 1, 7, 'k', '{bot:send}', 'x', 'x', 0)`,
    [KEY],
  )
  await save({ chat: { apiKeyId: KEY, chatId: '5' } })
  at(5)
  await evaluate()
  await notifier.sendDue()
  const told = async () => (await notifications()).at(-1)
  const sendAt = async (minutes: number) => {
    at(minutes)
    await notifier.sendDue()
  }
  return { asked, told, sendAt, database }
}

for (const sends of ['idempotent', 'findable'] as const) {
  t.test(`a network with ${sends} sends tells what became of it`, async (t) => {
    const { asked, told, sendAt } = await scene(t, sends, [uncertain(), uncertain(), undefined])
    t.match(await told(), { state: 'waiting', code: 'chat_failed', detail: LATE })
    await sendAt(6)
    t.match(await told(), { state: 'waiting', attempts: 2 })
    await sendAt(7)
    t.match(await told(), { state: 'sent', attempts: 3 })
    const [{ callId } = { callId: '' }] = asked
    t.same(asked, [
      { callId, isRepeated: false },
      { callId, isRepeated: true },
      { callId, isRepeated: true },
    ])
  })
}

t.test('after an hour no network tells it any more', async (t) => {
  const { asked, told, sendAt } = await scene(t, 'idempotent', [failed('bad_gateway'), uncertain()])
  await sendAt(5 + 60)
  t.match(await told(), { state: 'lost', attempts: 2, detail: LATE })
  t.equal(asked.length, 2)
})

t.test('where nobody can tell, it may be lost, and is not sent again', async (t) => {
  const { asked, told, sendAt } = await scene(t, 'blind', [uncertain(), undefined])
  t.match(await told(), { state: 'lost', attempts: 1, detail: LATE })
  await sendAt(6)
  t.equal(asked.length, 1)
})

t.test('what certainly was not sent is sent by a call of its own', async (t) => {
  const answers = [failed('internal'), failed('timeout', 'no answer in time'), undefined]
  const { asked, told, sendAt } = await scene(t, 'idempotent', answers)
  await sendAt(6)
  await sendAt(7)
  t.match(await told(), { state: 'sent', attempts: 3 })
  t.equal(new Set(asked.map(({ callId }) => callId)).size, 3)
  t.notOk(asked.some(({ isRepeated }) => isRepeated))
})
