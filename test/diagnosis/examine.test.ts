/** Whatever is wrong with a key, its account or its endpoint: a diagnosis ends with a cause and with what to do. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Examination } from '../../actors/diagnosis/actor.ts'
import { causeOf, type Finding, STEPS } from '../../machines/diagnosis/events.ts'
import type { Sentence } from '../../machines/diagnosis/facts.ts'
import { failed } from '../../machines/model/failure.ts'
import type { FailureCode } from '../../machines/model/protocol.ts'
import { examiner } from '../../src/diagnosis/examine.ts'
import { inWords } from '../../src/diagnosis/words.ts'
import {
  type ExaminerWorld,
  type ReceivingFacts,
  type Refusal,
  TELLING,
} from '../../src/diagnosis/world.ts'
import fc from '../support/fast-check.ts'

const i18n = join(import.meta.dirname, '../../src/panel/i18n')
const messagesOf = (language: string): Readonly<Record<string, string>> =>
  Object.assign(
    {},
    ...globSync(`${language}/*.json`, { cwd: i18n }).map((path) =>
      JSON.parse(readFileSync(join(i18n, path), 'utf8')),
    ),
  )
const messages = [messagesOf('en'), messagesOf('fa')]
/** The catalogue has every reason: the compiler sees to that. */
const reasons = Object.keys(messages[0] ?? {}).flatMap(
  (key) => /^explained\.(.+)/.exec(key)?.[1] ?? [],
)

const NOW = Date.parse('2026-01-01T12:00:00Z')
const ago = (seconds: number) => new Date(NOW - seconds * 1_000)
const codes: readonly FailureCode[] = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'conflict',
  'rate_limited',
  'internal',
  'bad_gateway',
  'unavailable',
  'timeout',
]

const account = fc.oneof(
  fc.constant({ state: 'active', reason: null, action: 'none' }),
  fc.record({
    state: fc.constantFrom('connecting', 'degraded', 'logged_out', 'invalid', 'failed'),
    reason: fc.option(fc.constantFrom(...reasons, 'word_of_a_later_version')),
    action: fc.constantFrom('wait', 'link_again', 'restart', 'contact_platform'),
  }),
  fc.constant(undefined),
)

const refusal: fc.Arbitrary<Refusal> = fc.record({
  at: fc.constantFrom(ago(5), ago(300)),
  reason: fc.constantFrom(...TELLING),
  scope: fc.constantFrom(null, 'bot:send', 'bot:receive'),
  address: fc.constantFrom('192.0.2.1', '2001:db8::1'),
})

/** As the table has it: an attempt that failed leaves a failure and its message. */
const webhook = fc
  .record({
    isSuspended: fc.boolean(),
    lastStatus: fc.constantFrom(undefined, 200, 302, 401, 403, 404, 410, 500),
    answersMs: fc.constantFrom(undefined, 20, 4_000),
    failures: fc.integer({ min: 1, max: 9 }),
  })
  .map(({ isSuspended, lastStatus, answersMs, failures }) => {
    const isWell = lastStatus === 200 && !isSuspended
    const lastError = { at: ago(60), message: 'Wrong response from the webhook' }
    const trouble = isWell ? { failures: 0, lastError: undefined } : { failures, lastError }
    return { url: 'https://bot.example/hook', isSuspended, lastStatus, answersMs, ...trouble }
  })

const receiving: fc.Arbitrary<ReceivingFacts> = fc
  .record({
    mode: fc.constantFrom('none' as const, 'polling' as const),
    pending: fc.integer({ min: 0, max: 3 }),
    dropped: fc.constantFrom(undefined, { updates: 2, at: ago(9).toISOString() }),
    webhook: fc.option(webhook, { nil: undefined }),
    turnedOff: fc.option(webhook, { nil: undefined }),
    leftOut: fc.subarray(['message', 'edited_message']),
    behindSince: fc.constantFrom(undefined, ago(3_000)),
  })
  .map((facts) => ({
    ...facts,
    ...(facts.webhook && { mode: 'webhook' as const, turnedOff: undefined }),
  }))

const worlds = fc.record({
  key: fc.record({
    revoked_at: fc.constantFrom(null, ago(9).toISOString()),
    expires_at: fc.constantFrom(null, ago(9).toISOString(), ago(-9).toISOString()),
    scopes: fc.subarray(['bot:send', 'bot:receive'], { minLength: 1 }),
    allowed_ips: fc.subarray(['192.0.2.0/24']),
  }),
  opens: fc.constantFrom(undefined, true, false),
  sendTo: fc.constantFrom(undefined, '@ada'),
  account,
  lastEvent: fc.constantFrom(null, ago(60).toISOString()),
  latency: fc.constantFrom(undefined, 20, 9_000),
  odd: fc.record({ repeated: fc.nat(1), disordered: fc.nat(1) }),
  sending: fc.option(
    fc.record({
      code: fc.constantFrom(...codes),
      certain: fc.constantFrom(undefined, false),
      reason: fc.constantFrom(undefined, 'chat_not_found' as const),
    }),
  ),
  refusals: fc.array(refusal, { maxLength: 3 }),
  receiving,
  isPolled: fc.boolean(),
  lastPoll: fc.option(
    fc.record({
      offset: fc.constantFrom(-1, 0, 100, 900),
      at: fc.constant(NOW),
      next: fc.constant(100),
      unconfirmed: fc.nat(4),
    }),
    { nil: undefined },
  ),
  paced: fc.constantFrom(0, 1, 9),
  suspended: fc.constantFrom(undefined, undefined, 'Spam'),
})

type Drawn = typeof worlds extends fc.Arbitrary<infer One> ? One : never

function worldOf(drawn: Drawn): ExaminerWorld {
  const { latency, sending } = drawn
  const { webhook: hook } = drawn.receiving
  const record = {
    api_key_id: 7,
    receive_mode: drawn.receiving.mode,
    ...drawn.key,
    webhook: hook ? { url: hook.url } : null,
  }
  const actor = {
    async ask({ type }: { readonly type: string }) {
      if (type === 'credential.check') {
        if (latency === undefined) throw failed('timeout', 'nothing came back')
        return latency
      }
      if (sending) throw failed(sending.code, '', { ...sending, retryAfterSeconds: 3 } as object)
      return {}
    },
  }
  return {
    now: () => NOW,
    slowAfterMs: 1_000,
    updatesLastMs: 86_400_000,
    key: async () => record,
    async credential() {
      if (!drawn.account) throw failed('not_found')
      return { ...drawn.account, health: { last_event_at: drawn.lastEvent } }
    },
    actor: async () => actor,
    profile: async () => ({ username: 'bot' }),
    irregularities: { of: () => drawn.odd },
    receiving: async () => drawn.receiving,
    refusals: async () => drawn.refusals,
    isPolled: () => drawn.isPolled,
    lastPoll: () => drawn.lastPoll,
    paced: async () => drawn.paced,
    suspendedWhy: () => drawn.suspended,
  } as unknown as ExaminerWorld
}

async function diagnosed(drawn: Drawn): Promise<readonly Finding[]> {
  const examine = examiner(worldOf(drawn))
  const findings: Finding[] = []
  const { opens, sendTo } = drawn
  const ids = { diagnosisId: 'd', userId: 1, apiKeyId: 7, credentialId: 9 }
  const facts = { ...ids, opens, sendTo, findings: [] }
  for (const step of STEPS) {
    const { signal } = new AbortController()
    const examination: Examination = { facts, sendTo, earlier: findings, signal }
    findings.push(await examine(step, examination))
  }
  return findings
}

/** The observation that a remark speaks of. */
const seenFor: Readonly<Record<string, string>> = {
  slow: 'round_trip',
  events_repeated: 'events_repeated',
  events_disordered: 'events_disordered',
  polling_and_webhook: 'polling_beside_webhook',
  two_pollers: 'other_pollers',
  nobody_receives: 'nobody_receives',
  updates_left_out: 'kinds_left_out',
  offset_kept: 'offset_kept',
  offset_negative: 'offset_negative',
  offset_ahead: 'offset_ahead',
  bot_behind: 'oldest_waits',
  calls_too_fast: 'calls_paced',
  endpoint_slow: 'slow_answers',
  address_not_allowed: 'calls_refused_from',
  webhook_turned_off: 'webhook_removed',
  updates_dropped: 'dropped',
  user_suspended: 'user_suspended',
  missing_scope: 'calls_refused scope_missing may_not_receive',
}

/** What is told as the cause: the last observation. */
const told = ({ evidence }: Finding) => evidence.at(-1) as Sentence

t.test('every finding has a code and a remedy, in both languages', async (t) => {
  const known = new Set<string>()
  await fc.assert(
    fc.asyncProperty(worlds, async (drawn) => {
      for (const finding of await diagnosed(drawn)) {
        const { verdict, remedy } = finding
        const code: string = finding.code ?? ''
        if (verdict !== 'failed' && code === '') continue
        known.add(code)
        const isKnown = code !== 'word_of_a_later_version'
        const isSaid = messages.every((all) => !isKnown || all[`diagnosis.fix.${code}`])
        const tells =
          finding.evidence.every((line) => inWords(line) !== '') &&
          remedy !== undefined &&
          inWords(remedy) !== ''
        const seen = seenFor[code]
        const isOfCode = seen === undefined || seen.split(' ').includes(told(finding).code)
        if (!isSaid || !tells || !isOfCode) throw new Error(JSON.stringify(finding))
      }
    }),
    { numRuns: 2_000 },
  )
  for (const code of [...reasons, ...Object.keys(seenFor)]) t.ok(known.has(code), code)
})

t.test('whatever failed, a diagnosis ends with a cause', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (drawn) => {
      const findings = await diagnosed(drawn)
      const isBroken = findings.some(({ verdict }) => verdict === 'failed')
      const cause = causeOf(findings)
      // A webhook without the scope gets nothing, and no call is refused.
      const isDeaf = drawn.receiving.webhook && !drawn.key.scopes.includes('bot:receive')
      if ((isBroken || isDeaf) && !cause?.code) throw new Error(JSON.stringify(findings))
      // A key that opens nothing by itself comes first, unless no other can be made for the account.
      const opensNothing = ['key_revoked', 'key_expired', 'wrong_secret', 'user_suspended']
      if (drawn.suspended && drawn.account && !opensNothing.includes(cause?.code ?? '')) {
        throw new Error(JSON.stringify(findings))
      }
    }),
    { numRuns: 1_000 },
  )
})
