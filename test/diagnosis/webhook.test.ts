/** What a diagnosis says of webhooks: failing, refusing, gone or given up endpoints, and polling beside them. */
import t from 'tap'
import type { Examination } from '../../actors/diagnosis/actor.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import {
  checkReceiveMode,
  checkWebhook,
  receivingFacts,
  recentRefusals,
} from '../../src/diagnosis/receiving.ts'
import { inWords } from '../../src/diagnosis/words.ts'
import type { ExaminerWorld, Refusal } from '../../src/diagnosis/world.ts'
import type { ApiKeyRecord } from '../../src/records/api-key.ts'
import { testDatabase } from '../support/database.ts'

const { database: db } = await testDatabase(t)
await db.query('select webhook_delivery_upkeep($1)', ['30 days'])
await db.query('select request_log_upkeep($1)', ['30 days'])
await db.query(`alter table credential disable trigger all`)
await db.query(`alter table api_key disable trigger all`)
await db.query(`insert into credential (id, user_id, platform, native_id, account)
                values (7, 1, 'sandbox', 'n', '{}')`)

let lastKey = 200_000
const KEPT_MS = 2 * 86_400_000

const said = ({ evidence, remedy, ...finding }: Finding) => ({
  ...finding,
  evidence: evidence.map(inWords),
  ...(remedy && { remedy: inWords(remedy) }),
})

async function key(scopes = ['bot:receive']) {
  const api_key_id = ++lastKey
  await db.query(
    `insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor)
     values ($1, 1, 7, 'test', $2, '', '', 0)`,
    [api_key_id, scopes],
  )
  const record = {
    api_key_id,
    scopes,
    receive_mode: 'none',
    pending_update_count: 3,
    dropped_update_count: 0,
    dropped_at: null,
    last_used_at: null,
  } as unknown as ApiKeyRecord
  const world = (more: Partial<ApiKeyRecord> = {}) =>
    ({
      key: async () => ({ ...record, ...more }),
      receiving: (given) => receivingFacts(db, given, Date.now() - behindMs),
      refusals: (id) => recentRefusals(db, id, Date.now() - behindMs),
      now: () => Date.now() - behindMs,
      isPolled: (_, withinMs = 10_000) => isPolled || lastPolledMs < withinMs,
      lastPoll: () => undefined,
      updatesLastMs: KEPT_MS,
    }) satisfies Partial<ExaminerWorld> as unknown as ExaminerWorld
  const facts = { userId: 1, apiKeyId: api_key_id }
  const examination = { facts, earlier: [] as readonly Finding[] } as Examination
  let isPolled = true
  let lastPolledMs = Infinity
  let behindMs = 0
  return {
    webhook: (more: { failures?: number; suspended?: boolean; error?: string } = {}) =>
      db.query(
        // Times of deliveries have no microseconds, so one of the same millisecond would seem to come before.
        `insert into webhook (api_key_id, sealed, shown_url, max_connections, has_certificate, set_at,
                              failures, suspended_at, last_error_at, last_error_message)
         values ($1, 'x', 'https://bot.example/hook', 40, false, now() - interval '1 second', $2,
                 case when $3 then now() end, case when $4::text is not null then now() end, $4)`,
        [api_key_id, more.failures ?? 0, more.suspended ?? false, more.error ?? null],
      ),
    turnOff: () => db.query('update webhook set sealed = null where api_key_id = $1', [api_key_id]),
    answered: (status: number | null) =>
      db.query(
        `insert into webhook_delivery (at, user_id, api_key_id, update_id, attempt, url, status, duration_ms)
         values (now(), 1, $1, 1, 1, 'https://bot.example/hook', $2, 5)`,
        [api_key_id, status],
      ),
    answeredSlowly: (secondsAgo: number) =>
      db.query(
        `insert into webhook_delivery (at, user_id, api_key_id, update_id, attempt, url, status, duration_ms)
         values (now() - $2 * interval '1 second', 1, $1, 1, 1, 'https://bot.example/hook', 200, 1200)`,
        [api_key_id, secondsAgo],
      ),
    failed: (status: number) =>
      db.query(
        `insert into webhook_delivery (at, user_id, api_key_id, update_id, attempt, url, status, error, duration_ms)
         values (now() - interval '1 minute', 1, $1, 1, 1, 'https://bot.example/hook', $2, 'Wrong response', 5)`,
        [api_key_id, status],
      ),
    succeeded: () =>
      db.query('update webhook set last_success_at = now() where api_key_id = $1', [api_key_id]),
    polled: (value: boolean, agoMs = Infinity) => {
      isPolled = value
      lastPolledMs = agoMs
    },
    /** The clock of the node is behind that of the database. */
    isSlow: (seconds: number) => {
      behindMs = 1_000 * seconds
    },
    refused: (reason: Refusal['reason'], secondsAgo = 0) =>
      db.query(
        `insert into request_log (at, request_id, user_id, api_key_id, method, status, error_code,
                                  reason, duration_ms, request_bytes, response_bytes, ip)
         values (now() - $3 * interval '1 second', 'r', 1, $1, 'getUpdates', 409, 409, $2, 1, 1, 1, '::1')`,
        [api_key_id, reason, secondsAgo],
      ),
    /** The webhook was set so long ago. */
    isOld: () =>
      db.query(`update webhook set set_at = now() - interval '1 hour' where api_key_id = $1`, [
        api_key_id,
      ]),
    polledOnce: () => db.query('update api_key set polled_at = now() where id = $1', [api_key_id]),
    /** It polled a moment ago, and an update has waited for so many minutes. */
    isBehind: async (minutes: number) => {
      await db.query('update api_key set polled_at = now() where id = $1', [api_key_id])
      await db.query(
        `insert into update_log (credential_id, update_id, source_key, at, kind, payload)
         values (7, 1, 's', now() - make_interval(mins => $1), 0, '{}')`,
        [minutes],
      )
    },
    mode: async (earlier: readonly Finding[] = [], more?: Partial<ApiKeyRecord>) =>
      said(await checkReceiveMode(world(more), { ...examination, earlier })),
    info: async (more?: Partial<ApiKeyRecord>) =>
      said(await checkWebhook(world(more), examination)),
  }
}

t.test('an endpoint that answers well', async (t) => {
  const well = await key()
  await well.webhook({ error: 'Connection timed out' })
  await well.answered(null)
  await well.answered(200)
  t.match(await well.mode(), { verdict: 'passed', evidence: [/bot\.example\/hook/] })
  const info = await well.info()
  t.match(info, { verdict: 'passed', evidence: ['3 updates wait', /bot\.example/] })
  t.notOk(info.code, 'an error of long ago is no trouble')
})

t.test('a failure in the log before a success that was not logged', async (t) => {
  const well = await key()
  await well.webhook({ error: 'Connection timed out' })
  await well.failed(500)
  t.match(await well.info(), { verdict: 'passed' }, 'of the webhook before')
  await well.isOld()
  t.match(await well.info(), { verdict: 'failed', code: 'endpoint_failing' })
  await well.succeeded()
  t.match(await well.info(), { verdict: 'passed' })
})

t.test('each trouble of an endpoint has its code and its remedy', async (t) => {
  const cases = [
    [500, false, 'endpoint_failing', /2xx/],
    [302, false, 'endpoint_redirects', /that it leads to$/],
    [404, false, 'endpoint_not_found', /path/],
    [405, false, 'endpoint_not_found', /path/],
    [null, false, 'endpoint_failing', /2xx/],
    [401, false, 'secret_refused', /secret_token/],
    [403, false, 'secret_refused', /secret_token/],
    [410, false, 'endpoint_gone', /setWebhook/],
    [500, true, 'webhook_suspended', /setWebhook again/],
    [401, true, 'webhook_suspended', /setWebhook again/],
  ] as const
  for (const [status, suspended, code, remedy] of cases) {
    const troubled = await key()
    await troubled.webhook({ failures: 3, suspended, error: 'Wrong response' })
    await troubled.answered(status)
    const found = await troubled.info()
    t.match(found, { verdict: 'failed', code, remedy }, `${status}`)
    t.match(found.evidence.at(-2), '3 attempts in a row failed')
    t.match(found.evidence.at(-1), /Wrong response/)
    t.match(await troubled.mode(), { verdict: 'passed' }, 'which is no conflict')
  }
})

t.test('polling beside a webhook', async (t) => {
  const both = await key()
  await both.webhook()
  await both.refused('webhook_active')
  await both.refused('webhook_active')
  t.match(await both.mode(), {
    verdict: 'failed',
    code: 'polling_and_webhook',
    evidence: [String, /2 times/],
    remedy: /deleteWebhook/,
  })
  const polled = await key()
  await polled.refused('webhook_active')
  t.match(await polled.mode(), { verdict: 'passed' }, 'once the webhook is gone it is mended')
})

t.test(
  'a conflict that is over is a warning, and the fault of an account comes before it',
  async (t) => {
    const warning = { verdict: 'passed', code: 'two_pollers', remedy: /^It is over/ }
    const ongoing = await key()
    await ongoing.refused('other_poll')
    t.match(await ongoing.mode(), { verdict: 'failed', code: 'two_pollers' })
    const account = { step: 'credential', verdict: 'failed', evidence: [] } as const
    t.match(
      await ongoing.mode([account]),
      warning,
      'an account that is out is what is to be mended',
    )
    ongoing.polled(false)
    t.match(await ongoing.mode(), warning, 'nobody polls any more')
    const old = await key()
    await old.refused('other_poll', 300)
    t.match(await old.mode(), warning, 'one of them has stopped')
    const beside = await key()
    await beside.webhook()
    await beside.refused('webhook_active', 300)
    t.match(await beside.mode(), { verdict: 'passed', code: 'polling_and_webhook' })
  },
)

t.test('a conflict of a node whose clock is not that of the database', async (t) => {
  for (const seconds of [700, -700]) {
    const slow = await key()
    slow.isSlow(seconds)
    await slow.refused('other_poll', seconds)
    t.match(await slow.mode(), { verdict: 'failed', code: 'two_pollers' }, `${seconds} s behind`)
  }
})

t.test('slow answers, also by a node whose clock is not that of the database', async (t) => {
  for (const seconds of [0, 700, -700]) {
    const slow = await key()
    await slow.webhook()
    await slow.isOld()
    slow.isSlow(seconds)
    await slow.answeredSlowly(seconds + 590)
    t.match(await slow.info(), { verdict: 'passed', code: 'endpoint_slow' }, `${seconds} s behind`)
    const quick = await key()
    await quick.webhook()
    await quick.isOld()
    quick.isSlow(seconds)
    await quick.answeredSlowly(seconds + 610)
    t.notOk((await quick.info()).code, 'long ago')
  }
})

t.test('a webhook that its endpoint had removed', async (t) => {
  const gone = await key()
  await gone.webhook()
  await gone.turnOff()
  gone.polled(false)
  t.match(await gone.mode(), { verdict: 'passed', code: 'nobody_receives' })
  t.match(await gone.info(), {
    verdict: 'passed',
    code: 'webhook_turned_off',
    remedy: /setWebhook/,
  })
  await gone.polledOnce()
  t.notOk((await gone.info()).code, 'the bot polls instead')
})

t.test('a bot that polled, and stopped', async (t) => {
  const stopped = await key()
  const mode = () => stopped.mode([], { receive_mode: 'polling' })
  t.match(await mode(), { verdict: 'passed', evidence: [/^Updates are fetched by getUpdates/] })
  stopped.polled(false, 90_000)
  t.notOk((await stopped.mode()).code, 'it may be at work on what it fetched')
  stopped.polled(false)
  t.match(await mode(), {
    verdict: 'passed',
    code: 'nobody_receives',
    evidence: ['Nobody fetches updates at the moment; there is no webhook'],
  })
  const nothingWaits = { receive_mode: 'polling' as const, pending_update_count: 0 }
  t.notOk((await stopped.mode([], nothingWaits)).code, 'it may be between two polls')
})

t.test('updates that were dropped unread', async (t) => {
  const late = await key()
  const dropped = (age: number) => ({
    dropped_update_count: 9,
    dropped_at: new Date(Date.now() - age).toISOString(),
  })
  const evidence = ['3 updates wait', /^9 updates were dropped/]
  t.match(await late.info(dropped(KEPT_MS / 2)), {
    verdict: 'passed',
    code: 'updates_dropped',
    evidence,
  })
  const longAgo = await late.info(dropped(2 * KEPT_MS))
  t.match(longAgo, { verdict: 'passed', evidence })
  t.notOk(longAgo.code, 'what waits now came later')
})

t.test('a bot that is behind for as long as an alert takes', async (t) => {
  const late = await key()
  t.notOk((await late.info()).code)
  await late.isBehind(20)
  t.match(await late.info(), {
    verdict: 'passed',
    code: 'bot_behind',
    evidence: ['3 updates wait', /^The oldest update that waits came at /],
    remedy: /limit up to 100/,
  })
})

t.test('a key that may not receive is not asked how it does', async (t) => {
  const sending = await key(['bot:send'])
  t.match(await sending.mode(), { verdict: 'skipped' })
  t.match(await sending.info(), { verdict: 'skipped' })
})
