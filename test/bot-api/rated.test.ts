/** Every method that writes a message counts for the rate of its key and chat, and no other does. */
import t from 'tap'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { type BotCall, type CallExecution, prepare } from '../../src/bot-api/execute.ts'
import { methods } from '../../src/bot-api/methods/index.ts'
import { only } from '../support/fakes.ts'

/** Show something to others, and leave no message behind. */
const FLEETING = [
  'sendChatAction',
  'sendChatJoinRequestWebApp',
  'sendMessageDraft',
  'sendRichMessageDraft',
]
const writes = (name: string) => /^(send|forward|copy)[A-Z]/.test(name) && !FLEETING.includes(name)

/** Can do everything that any method asks for. */
const able = {
  id: 'able',
  capabilities: {
    operations: [...methods.values()].flatMap(({ operation }) => operation ?? []),
    content: [...methods.values()].flatMap(({ content }) => content ?? []),
  },
} as unknown as Platform

/** What the key is asked to admit before a call is carried out. */
async function admitted(t: Parameters<typeof only>[0], method: string, chat: string) {
  const asked: [string | undefined, string | undefined][] = []
  const refused = new RequestFailed({ code: 'forbidden', description: 'asked' })
  const key = only<ApiKeyActor>(t, 'ApiKeyActor', {
    facts: { apiKeyId: 1, credentialId: 2 } as ApiKeyActor['facts'],
    admit: async (scope, chat) => {
      asked.push([scope, chat])
      throw refused
    },
  })
  const call = { method, key, args: new Arguments([['chat_id', chat]]), uploads: new Map() }
  const carrier = { credentials: { platformOf: async () => able } } as unknown as CallExecution
  try {
    await prepare({ ...call, traceId: 't' } as unknown as BotCall, carrier)
  } catch (cause) {
    if (cause !== refused) throw cause
  }
  return asked
}

t.test('each method, by the table', async (t) => {
  for (const { name, scope, admitsItself } of methods.values()) {
    if (admitsItself) continue
    const [[asked, chat] = []] = await admitted(t, name, '7')
    t.equal(asked, scope, name)
    t.equal(chat, writes(name) ? '7' : undefined, name)
  }
})

/** Leave something behind that a second call would leave again, and are no messages. */
const ONCE =
  /^(gift|transfer|upgrade|convert|refund|post|repost|create|addStickerToSet|answerWebAppQuery)/

t.test(
  'each method that sends, spends or creates takes an Idempotency-Key, and no other',
  async (t) => {
    const cause = new RequestFailed({ code: 'conflict', description: 'asked' })
    for (const { name, parameters, required, admitsItself } of methods.values()) {
      if (admitsItself) continue
      const given = required.map((parameter): [string, string] => [
        parameter,
        parameters[parameter] === 'string' ? 'x' : '7',
      ])
      const heeded: string[] = []
      const key = {
        facts: {},
        admit: async () => undefined,
        inFlight: (run: () => unknown) => run(),
      }
      const carrier = {
        credentials: { platformOf: async () => able, ready: () => Promise.reject(cause) },
        idempotentCalls: {
          once: async (_: number, given: string) => {
            heeded.push(given)
            throw cause
          },
        },
        world: { profile: () => Promise.reject(cause), profileStore: {} },
      } as unknown as CallExecution
      const leaving = () => ({ aborted: false })
      const asked = { method: name, key, args: new Arguments(given), uploads: new Map() }
      const call = {
        ...asked,
        traceId: 't',
        idempotencyKey: 'a key',
        leaving,
      } as unknown as BotCall
      const run = await prepare(call, carrier).catch(() => undefined)
      await run?.().catch(() => undefined)
      t.same(heeded, writes(name) || ONCE.test(name) ? ['a key'] : [], name)
    }
  },
)

t.test('a chat is the same however it is written', async (t) => {
  const chatOf = async (chat: string) => (await admitted(t, 'sendMessage', chat))[0]?.[1]
  t.same(await Promise.all(['@Ada', '@ADA'].map(chatOf)), ['@ada', '@ada'])
  t.same(await Promise.all(['007', '7', '7x', '-100'].map(chatOf)), ['7', '7', '7', '-100'])
  t.equal(await chatOf(''), '0')
})
