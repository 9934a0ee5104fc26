/** A call whose first try ended with its node: it is done again only where that cannot do it twice. */
import t from 'tap'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { type Asked, type CallExecution, execute } from '../../src/bot-api/execute.ts'
import { methods } from '../../src/bot-api/methods/index.ts'

/** The ids under which the network is asked, or the failure of the call. */
async function repeated(sends: Platform['sends'], method: string, isRepeated = true) {
  const asked: unknown[] = []
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
    ask: async ({ callId }: { readonly callId: string }) => {
      asked.push(callId)
      throw new RequestFailed({ code: 'conflict', description: 'asked' })
    },
  }
  const key = {
    facts: { apiKeyId: 1, credentialId: 2 },
    admit: async () => undefined,
    inFlight: (run: () => unknown) => run(),
  } as unknown as ApiKeyActor
  const carrier = {
    credentials: { platformOf: async () => platform, ready: async () => credential },
    world: {},
  } as unknown as CallExecution
  const args = new Arguments([
    ['chat_id', '7'],
    ['text', 'hi'],
  ])
  const call = {
    method,
    key,
    args,
    uploads: new Map(),
    passedOn: { id: 'call', isRepeated },
    leaving: () => ({ aborted: false }),
  } as unknown as Asked
  const failure = await execute(call, carrier).then(
    () => undefined,
    (cause: RequestFailed) => cause.failure,
  )
  return { asked, failure }
}

t.test('a network that knows the id of a call is asked again under the same', async (t) => {
  const { asked } = await repeated('idempotent', 'sendMessage')
  t.same(asked, ['call.0'])
})

for (const sends of ['blind', 'findable'] as const) {
  t.test(`a network with ${sends} sends is not asked again, and the caller is told`, async (t) => {
    const { asked, failure } = await repeated(sends, 'sendMessage')
    t.same(asked, [])
    t.match(failure, { code: 'timeout', reason: 'sent_unconfirmed', certain: false })
    const first = await repeated(sends, 'sendMessage', false)
    t.same(first.asked, ['call.0'], 'the first try is made')
  })
}

t.test('a call that only reads is made again on any network', async (t) => {
  t.same((await repeated('blind', 'getChat')).asked, ['call.0'])
})
