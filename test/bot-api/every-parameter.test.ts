/** Every method of the reference with every parameter on every platform: carried out, cosmetic, or refused with a reason. */
import t from 'tap'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { type CallExecution, isPassedOn, prepare } from '../../src/bot-api/execute.ts'
import { markupOf } from '../../src/bot-api/markup.ts'
import { canDo, type Method } from '../../src/bot-api/method.ts'
import { methods } from '../../src/bot-api/methods/index.ts'
import { parametersKnown, type Treatment, treatmentOf } from '../../src/bot-api/parameter-rules.ts'
import { METHOD_NAMES, reference } from '../../src/bot-api/reference.ts'
import { platforms } from '../docs/platform-tables.ts'
import { declarationsAsked } from '../reference/declarations.ts'
import { unclassified } from '../reference/unclassified.ts'
import { WEIGHTY } from '../reference/weighty.ts'

const REASON =
  "(the network has no .+|the gateway does not .+|only (bots|people's accounts) may; .+)"

/** Prepares a call, which is not made; resolves with the failure that stands against it. */
async function refusal(
  platform: Platform,
  method: string,
  given: Readonly<Record<string, string>> = {},
): Promise<Failure | undefined> {
  const key = { facts: { apiKeyId: 1, credentialId: 1 }, admit: async () => undefined }
  const asked = {
    method,
    key: key as unknown as ApiKeyActor,
    args: new Arguments(Object.entries(given)),
    uploads: new Map(),
    traceId: 't',
    signal: () => new AbortController().signal,
    leaving: () => ({ aborted: false }) as never,
  }
  const credentials = { platformOf: async () => platform }
  const carrier = { credentials } as unknown as CallExecution
  try {
    await prepare(asked, carrier)
    return undefined
  } catch (error) {
    if (error instanceof RequestFailed) return error.failure
    throw error
  }
}

const all = platforms.map(
  ([id, capabilities]) => ({ id, name: `The ${id}`, capabilities }) as unknown as Platform,
)
const served = (platform: Platform, name: string): Method | undefined => {
  const method = methods.get(name.toLowerCase())
  return method && canDo(platform, method) ? method : undefined
}

t.test('nothing is left to be decided', async (t) => {
  t.strictSame(unclassified(declarationsAsked()), [])
  t.equal(reference.size, 185)
})

for (const platform of all) {
  t.test(`${platform.id}: a method that is not served is refused with the reason`, async (t) => {
    for (const name of METHOD_NAMES.filter(
      (one) => !served(platform, one) && !isPassedOn(platform, one),
    )) {
      const failure = await refusal(platform, name)
      t.equal(failure?.code, 'bad_request', name)
      const expected = new RegExp(`^method ${name} not found on The ${platform.id}: ${REASON}$`)
      t.match(failure?.description, expected, name)
    }
  })

  t.test(`${platform.id}: a parameter is refused with the reason, or not refused`, async (t) => {
    const counts: Record<Treatment, number> = { 'carried out': 0, refused: 0, cosmetic: 0 }
    for (const name of METHOD_NAMES) {
      const method = served(platform, name)
      if (!method) continue
      for (const parameter of parametersKnown(name)) {
        const treatment = treatmentOf(platform, method, parameter)
        if (!treatment) throw new Error(`${name}.${parameter} is not classified`)
        counts[treatment]++
        if (isPassedOn(platform, name)) {
          t.equal(treatment, 'carried out', 'the network says what it takes')
          continue
        }
        const failure = await refusalOf(platform, name, parameter)
        const about = `${name}.${parameter}`
        if (treatment === 'refused') t.match(failure, wordsAgainst(platform, parameter), about)
        else t.equal(failure, undefined, about)
      }
    }
    t.ok(counts['carried out'] > 150, JSON.stringify(counts))
  })
}

/** What the parameter alone is refused with, once something is asked by it. */
async function refusalOf(platform: Platform, method: string, parameter: string) {
  const value = VALUES[parameter] ?? '7'
  const given = parameter === 'chat_id' ? {} : { chat_id: '-1007' }
  const failure = await refusal(platform, method, { ...given, [parameter]: value })
  if (failure || parameter !== 'reply_markup') return failure
  try {
    markupOf(new Arguments([[parameter, value]]), platform)
    return undefined
  } catch (error) {
    return (error as RequestFailed).failure
  }
}

const VALUES: Readonly<Record<string, string>> = {
  reply_markup: '{"inline_keyboard":[[{"text":"a","callback_data":"b"}]]}',
}

/** Three are refused in the words that the reference has for an unfitting value. */
function wordsAgainst({ id }: Platform, parameter: string) {
  const own: Readonly<Record<string, string>> = {
    business_connection_id: 'business connection not found',
    message_thread_id: 'message thread not found',
    reply_markup: `inline keyboards are not supported on The ${id}`,
  }
  const usual = `parameter "${parameter}" is not supported on The ${id}: ${REASON}`
  const description = own[parameter] ? `(${own[parameter]}|${usual})` : usual
  return { code: 'bad_request', description: new RegExp(`^${description}$`) }
}

t.test('who sees a message, where, when and at what price is never cosmetic', async (t) => {
  for (const platform of all) {
    for (const method of methods.values()) {
      for (const parameter of parametersKnown(method.name)) {
        // No other client can be made to keep a message: docs/platforms.md says so.
        if (platform.id === 'xmpp' && parameter === 'protect_content') continue
        const treatment = treatmentOf(platform, method, parameter)
        if (treatment === 'cosmetic')
          t.notMatch(parameter, WEIGHTY, `${platform.id} ${method.name}`)
      }
    }
  }
})

t.test('a method that nobody knows is not found', async (t) => {
  for (const platform of all.filter((one) => !isPassedOn(one, 'sendTelepathy'))) {
    const failure = await refusal(platform, 'sendTelepathy')
    t.match(failure, { code: 'not_found', description: /^method not found$/ })
  }
})
