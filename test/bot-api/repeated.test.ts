/** A call whose first try ended with its node: it is done again only where that cannot do it twice. */
import t from 'tap'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import type { PerformOperation } from '../../machines/credential/events.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { type BotCall, type CallExecution, execute } from '../../src/bot-api/execute.ts'
import { methods } from '../../src/bot-api/methods/index.ts'

/** The ids under which the network is asked, or the failure of the call. */
async function repeated(
  sends: Platform['sends'],
  method: string,
  isRepeated = true,
  refusal: Failure = { code: 'conflict', description: 'asked' },
) {
  const asked: unknown[] = []
  const waits: number[] = []
  const platform = {
    id: 'able',
    sends,
    capabilities: {
      operations: [...methods.values()].flatMap(({ operation }) => operation ?? []),
      content: [...methods.values()].flatMap(({ content }) => content ?? []),
      surfaces: ['private'],
      entities: [],
      limits: { textLength: 100 },
    },
  } as unknown as Platform
  const credential = {
    // Not online, so that it is asked as an actor.
    snapshot: { value: 'connecting' },
    ask: async ({ callId, isRepeated }: PerformOperation) => {
      asked.push(isRepeated ? `${callId} again` : callId)
      throw new RequestFailed(refusal)
    },
  }
  const key = {
    facts: { apiKeyId: 1, credentialId: 2 },
    admit: async () => undefined,
    inFlight: (run: () => unknown) => run(),
  } as unknown as ApiKeyActor
  const ready = async (_id: number, _hasLeft: () => boolean, atLeast = 0) => {
    waits.push(atLeast)
    return credential
  }
  const carrier = {
    credentials: { platformOf: async () => platform, ready },
    world: {},
  } as unknown as CallExecution
  const args = new Arguments([
    ['chat_id', '7'],
    ['text', 'hi'],
    ['title', 'A title'],
  ])
  const call = {
    method,
    key,
    args,
    uploads: new Map(),
    forwarded: { id: 'call', isRepeated },
    leaving: () => ({ aborted: false }),
  } as unknown as BotCall
  const failure = await execute(call, carrier).then(
    () => undefined,
    (cause: RequestFailed) => cause.failure,
  )
  return { asked, failure, waits }
}

const unknown = { code: 'timeout', reason: 'sent_unconfirmed', certain: false }

for (const sends of ['idempotent', 'findable'] as const) {
  t.test(`a network with ${sends} sends is asked again under the same id`, async (t) => {
    const { asked, waits } = await repeated(sends, 'sendMessage')
    t.same(asked, ['call.0 again'], 'and is told that it is asked again')
    t.ok(
      waits.every((wait) => wait >= 30_000),
      'once the account is online, which may take long',
    )
    t.same((await repeated(sends, 'sendMessage', false)).asked, ['call.0'])
  })
}

t.test('a network with blind sends is not asked again, and the caller is told', async (t) => {
  const { asked, failure } = await repeated('blind', 'sendMessage')
  t.same(asked, [])
  t.match(failure, unknown)
  const first = await repeated('blind', 'sendMessage', false)
  t.same(first.asked, ['call.0'], 'the first try is made')
})

t.test('what is no send is not done again where nobody can tell', async (t) => {
  const { asked, failure } = await repeated('findable', 'setChatTitle')
  t.same(asked, [])
  t.match(failure, { ...unknown, reason: 'done_unconfirmed' })
})

t.test('a second try that is not made leaves open what became of the first', async (t) => {
  const away: Failure = { code: 'unavailable', description: 'away', retryAfterSeconds: 1 }
  const silent: Failure = { code: 'timeout', description: 'who is that?', reason: 'no_answer' }
  for (const sends of ['idempotent', 'findable'] as const) {
    t.match((await repeated(sends, 'sendMessage', true, away)).failure, unknown)
    t.match((await repeated(sends, 'sendMessage', true, silent)).failure, unknown, 'a lookup')
    t.same((await repeated(sends, 'sendMessage', false, away)).failure, away)
  }
  t.same((await repeated('findable', 'getChat', true, away)).failure, away, 'it only reads')
})

t.test('a call that only reads is made again on any network', async (t) => {
  t.same((await repeated('blind', 'getChat')).asked, ['call.0 again'])
})
