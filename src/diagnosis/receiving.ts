/** Steps 4 and 5: how a key receives, by polling, by a webhook or not at all, and how that goes. */

import type { Examination } from '../../actors/diagnosis/actor.ts'
import { isAhead, type LastPoll, mayReceive } from '../../machines/api-key/events.ts'
import type { Finding } from '../../machines/diagnosis/events.ts'
import type { FindingCode, Sentence } from '../../machines/diagnosis/facts.ts'
import { behindSince } from '../alerts/rules.ts'
import type { Database } from '../database/database.ts'
import type { ApiKeyRecord } from '../records/api-key.ts'
import { nameOf, wantedBy } from '../updates/wanted.ts'
import {
  type DiagnosedWebhook,
  type ExaminerWorld,
  failing,
  hasFailed,
  passed,
  type ReceivingFacts,
  type Refusal,
  say,
  skipped,
  TELLING,
} from './world.ts'

interface Row {
  readonly is_on: boolean
  readonly shown_url: string
  readonly failures: number
  readonly suspended_at: Date | null
  readonly last_error_at: Date | null
  readonly last_error_message: string | null
  readonly last_status: number | null
  readonly answers_ms: number | null
}

export async function receivingFacts(
  db: Database,
  key: ApiKeyRecord,
  now: number,
): Promise<ReceivingFacts> {
  const { webhook, turnedOff } = await webhooksOf(db, key.api_key_id, now)
  return {
    mode: webhook ? 'webhook' : key.receive_mode,
    pending: key.pending_update_count,
    dropped:
      key.dropped_at === null
        ? undefined
        : { updates: key.dropped_update_count, at: key.dropped_at },
    webhook,
    turnedOff,
    leftOut: await kindsLeftOut(db, key.api_key_id),
    behindSince: await oldestLate(db, key.api_key_id),
  }
}

/** As the alert about a backlog has it. */
async function oldestLate(db: Database, apiKeyId: number): Promise<Date | undefined> {
  const [late] = await db.query<{ at: Date }>(
    `select late.at from api_key k cross join lateral (${behindSince('now()')}) late where k.id = $1`,
    [apiKeyId],
  )
  return late?.at
}

interface Came {
  readonly kind: string
  readonly is_wanted: boolean
}

/** In a busy group, one update that a bot wants comes among many that it does not. */
const LOOKED_AT = 1_000

/** The kinds of the newest updates of the last day; none if the key gets one of them. What it did itself does not count. */
async function kindsLeftOut(db: Database, apiKeyId: number): Promise<readonly string[]> {
  const came = await db.query<Came>(
    `select ${nameOf('u')} as kind, bool_or(${wantedBy}) as is_wanted
       from api_key k cross join lateral (
              select * from update_log
               where credential_id = k.credential_id order by update_id desc limit ${LOOKED_AT}) u
      where k.id = $1 and u.api_key_id is distinct from k.id and u.at > now() - interval '1 day'
      group by 1 order by count(*) desc, 1`,
    [apiKeyId],
  )
  return came.some(({ is_wanted }) => is_wanted) ? [] : came.map(({ kind }) => kind)
}

const RECENT_MS = 600_000
/** By the clock of the node, as the logs have it: that of the database may be another. */
const recent = (now: number) => new Date(now - RECENT_MS)

async function webhooksOf(
  db: Database,
  apiKeyId: number,
  now: number,
): Promise<Pick<ReceivingFacts, 'webhook' | 'turnedOff'>> {
  const [row] = await db.query<Row>(
    `select w.sealed is not null as is_on, w.shown_url, w.failures, w.suspended_at, w.last_error_at, w.last_error_message,
            -- Not every success is in the log: a failure before the last one says nothing. Nor does one of the webhook before.
            (select case when d.error is null or d.at >= coalesce(w.last_success_at, d.at) then d.status end
               from webhook_delivery d where d.api_key_id = w.api_key_id and d.at >= w.set_at
              order by d.at desc, d.id desc limit 1) as last_status,
            (select round(avg(a.duration_ms))::int from (
               select d.duration_ms from webhook_delivery d
                where d.api_key_id = w.api_key_id and d.error is null
                  and d.at >= greatest(w.set_at, $2)
                order by d.at desc, d.id desc limit 10) a) as answers_ms
       from webhook w join api_key k on k.id = w.api_key_id
      -- Who polls since has no need of a webhook that was turned off.
      where w.api_key_id = $1 and (w.sealed is not null or k.polled_at is null)`,
    [apiKeyId, recent(now)],
  )
  if (!row) return { webhook: undefined, turnedOff: undefined }
  const { last_error_at: at, last_error_message: message } = row
  const state = {
    url: row.shown_url,
    isSuspended: row.suspended_at !== null,
    failures: row.failures,
    lastError: at && message !== null ? { at, message } : undefined,
    answersMs: row.answers_ms ?? undefined,
    lastStatus: row.last_status ?? undefined,
  }
  return row.is_on
    ? { webhook: state, turnedOff: undefined }
    : { webhook: undefined, turnedOff: state }
}

/** The calls of the key that were refused in the last ten minutes for a reason that says something, newest first. */
export async function recentRefusals(
  db: Database,
  apiKeyId: number,
  now: number,
): Promise<Refusal[]> {
  return db.query<Refusal>(
    `select at, reason, params ->> 'scope' as scope, ip as address from request_log
      where api_key_id = $1 and at > $3 and error_code in (403, 409) and reason = any($2)
      order by at desc, id desc limit 100`,
    [apiKeyId, TELLING, recent(now)],
  )
}

/** The calls of the key that were too many in the last ten minutes, for the service or for the network. */
export async function recentlyPaced(db: Database, apiKeyId: number, now: number): Promise<number> {
  const [row] = await db.query<{ calls: number }>(
    `select count(*)::int as calls from request_log
      where api_key_id = $1 and at > $2 and error_code = 429`,
    [apiKeyId, recent(now)],
  )
  return row?.calls ?? 0
}

/** Two clients that poll against each other are refused every few seconds. */
const ONGOING_MS = 60_000
/** A bot may work on what it has fetched for so long before it polls again. */
const BUSY_MS = 120_000

/** Step 4: whether one way of receiving is in use, and not two against each other. */
export async function checkReceiveMode(
  world: ExaminerWorld,
  { facts: { userId, apiKeyId }, earlier }: Examination,
): Promise<Finding> {
  const key = await world.key(userId, apiKeyId)
  if (!mayReceive(key)) return withoutScope(key)
  const receiving = await world.receiving(key)
  const refusals = await world.refusals(apiKeyId)
  const because = (...reasons: readonly Refusal['reason'][]) =>
    refusals.filter(({ reason }) => reasons.includes(reason))
  // The fault of a broken account comes first: who polls makes no difference to it.
  const isOut = hasFailed(earlier, 'credential')
  const since = world.now() - ONGOING_MS
  const isOngoing = (found: readonly Refusal[]) =>
    !isOut && found.some(({ at }) => at.getTime() > since)
  const isPolled = world.isPolled(apiKeyId)
  const hasPolled = isPolled || world.isPolled(apiKeyId, BUSY_MS)
  const isIdle = receiving.mode !== 'webhook' && receiving.pending > 0 && !hasPolled
  const mode = isIdle ? say('nobody_receives') : modeOf(receiving)
  const beside = because('webhook_active', 'webhook_changed')
  if (receiving.mode === 'webhook' && beside.length > 0) {
    const code = 'polling_and_webhook'
    const evidence = [mode, say('polling_beside_webhook', { count: beside.length })]
    return isOngoing(beside)
      ? failing('receive_mode', code, evidence, say('stop_polling'))
      : passed('receive_mode', evidence, { code, remedy: say('polling_is_over') })
  }
  const others = because('other_poll')
  const conflict = [mode, say('other_pollers', { count: others.length })]
  if (isOngoing(others) && isPolled) {
    return failing('receive_mode', 'two_pollers', conflict, say('run_one'))
  }
  const stray = hasPolled && strayOffset(mode, receiving.pending, world.lastPoll(apiKeyId))
  if (stray) return stray
  if (others.length > 0) {
    const remedy = say('others_are_over')
    return passed('receive_mode', conflict, { code: 'two_pollers', remedy })
  }
  return isIdle || receiving.leftOut.length === 0
    ? passed('receive_mode', [mode], isIdle ? idle : undefined)
    : leavingOut(mode, receiving.leftOut.join(', '))
}

const idle = { code: 'nobody_receives', remedy: say('start_receiving') } as const

/** A client that lost an answer asks once more, and one that begins skips what waits: neither goes on with it. */
const UNCONFIRMED = 3

/** Of a client that gets updates again and again, and never confirms them. */
function strayOffset(mode: Sentence, pending: number, last: LastPoll | undefined) {
  if (!last || last.unconfirmed < UNCONFIRMED) return undefined
  const { offset, unconfirmed: count, next } = last
  if (offset < 0) {
    const seen = say('offset_negative', { count, offset })
    return failing('receive_mode', 'offset_negative', [mode, seen], say('skip_once'))
  }
  if (pending === 0) return undefined
  if (isAhead(last)) {
    const seen = say('offset_ahead', { offset, newest: next - 1 })
    return failing('receive_mode', 'offset_ahead', [mode, seen], say('begin_without_offset'))
  }
  const seen = say('offset_kept', { count, offset })
  return failing('receive_mode', 'offset_kept', [mode, seen], say('move_offset'))
}

const leavingOut = (mode: Sentence, kinds: string): Finding =>
  passed('receive_mode', [mode, say('kinds_left_out', { kinds })], {
    code: 'updates_left_out',
    remedy: say('name_kinds', { kinds }),
  })

/**
 * No call is refused for want of a scope where a webhook should get the updates: it just gets none. Nor does a bot call that
 * has given up polling. A key that never received is meant to send alone.
 */
function withoutScope({ api_key_id: key, webhook, receive_mode }: ApiKeyRecord): Finding {
  const scope = 'bot:receive'
  const lacking = say('may_not_receive', { scope })
  if (!webhook && receive_mode === 'none') return skipped('receive_mode', lacking)
  const how = webhook
    ? say('receives_by_webhook', { url: webhook.url })
    : say('receives_by_polling')
  return failing('receive_mode', 'missing_scope', [how, lacking], say('add_scope', { scope, key }))
}

function modeOf({ mode, webhook }: ReceivingFacts): Sentence {
  if (mode === 'webhook') return say('receives_by_webhook', { url: `${webhook?.url}` })
  return say(mode === 'polling' ? 'receives_by_polling' : 'nobody_receives')
}

/** Step 5: what getWebhookInfo says: how many updates wait, and what went wrong on their way out. */
export async function checkWebhook(
  world: ExaminerWorld,
  { facts: { userId, apiKeyId } }: Examination,
): Promise<Finding> {
  const key = await world.key(userId, apiKeyId)
  if (!mayReceive(key)) {
    return skipped('webhook_info', say('may_not_receive', { scope: 'bot:receive' }))
  }
  const receiving = await world.receiving(key)
  const evidence = [say('pending', { count: receiving.pending })]
  const { webhook } = receiving
  if (webhook) {
    evidence.push(say('webhook', { url: webhook.url }))
    const trouble = troubleOf(webhook)
    if (trouble) {
      return failing(
        'webhook_info',
        trouble.code,
        [...evidence, ...seenOf(webhook)],
        trouble.remedy,
      )
    }
  }
  const oldestKept = world.now() - world.updatesLastMs
  const remark = lost(receiving, evidence, oldestKept) ?? late(receiving, evidence)
  return passed('webhook_info', evidence, remark)
}

/** Of one chat, no more than one update is delivered in this time. */
const SLOW_ANSWER_MS = 1_000

/** Adds to `evidence` that what waits becomes more because the bot is slow. */
function late(
  { webhook, pending, behindSince: at }: ReceivingFacts,
  evidence: Sentence[],
): Trouble | undefined {
  if (at) {
    evidence.push(say('oldest_waits', { at: at.toISOString() }))
    return { code: 'bot_behind', remedy: say('fetch_more') }
  }
  const took = webhook?.answersMs ?? 0
  if (took < SLOW_ANSWER_MS || pending < 2) return undefined
  evidence.push(say('slow_answers', { count: took }))
  return { code: 'endpoint_slow', remedy: say('answer_at_once') }
}

interface Trouble {
  readonly code: FindingCode
  readonly remedy: Sentence
}

function seenOf({ failures, lastError, lastStatus }: DiagnosedWebhook): Sentence[] {
  return [
    ...(lastStatus === undefined ? [] : [say('last_answer', { status: lastStatus })]),
    ...(failures > 0 ? [say('failures', { count: failures })] : []),
    ...(lastError
      ? [say('last_error', { message: lastError.message, at: lastError.at.toISOString() })]
      : []),
  ]
}

const isRedirect = (status: number | undefined) =>
  status !== undefined && status >= 300 && status < 400

function troubleOf({ isSuspended, failures, lastStatus }: DiagnosedWebhook): Trouble | undefined {
  const isWell = lastStatus === undefined ? failures === 0 : lastStatus < 300
  if (lastStatus === 410) return { code: 'endpoint_gone', remedy: say('correct_address') }
  if (isSuspended) return { code: 'webhook_suspended', remedy: say('mend_and_set') }
  if (isWell) return undefined
  switch (lastStatus) {
    case 401:
    case 403:
      return { code: 'secret_refused', remedy: say('compare_secrets') }
    case 404:
    case 405:
      return { code: 'endpoint_not_found', remedy: say('take_posts') }
    default:
      return isRedirect(lastStatus)
        ? { code: 'endpoint_redirects', remedy: say('set_final_address') }
        : { code: 'endpoint_failing', remedy: say('mend') }
  }
}

/** Adds what was lost to `evidence`. What was dropped before all that is kept now says nothing of now. */
function lost(
  { dropped, turnedOff }: ReceivingFacts,
  evidence: Sentence[],
  oldestKept: number,
): Trouble | undefined {
  if (turnedOff) {
    evidence.push(say('webhook_removed', { url: turnedOff.url }))
    return { code: 'webhook_turned_off', remedy: say('set_correct_address') }
  }
  if (!dropped) return undefined
  evidence.push(say('dropped', { count: dropped.updates, at: dropped.at }))
  if (Date.parse(dropped.at) < oldestKept) return undefined
  return { code: 'updates_dropped', remedy: say('receive_more_often') }
}
