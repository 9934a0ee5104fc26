/** Calls with an Idempotency-Key: for a day, a repeated call of the same API key gets the first answer, and nothing is sent. */
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Logger } from '../../actors/ports/ports.ts'
import type { Forwarded } from '../../machines/credential/events.ts'
import { failed, isTransient, RequestFailed } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import type { Queryable } from '../database/database.ts'
import type { Result } from './method.ts'

/** Characters. */
export const KEY_LENGTH = 128

/** How long an answer is kept, as an interval of the database. */
const KEPT = '24 hours'

/**
 * Calls in answers to webhooks have keys that no caller can use: the value of a header begins with no space. There may be one
 * for each update, so they leave no less room for those of callers, and are kept no longer than a node is away.
 */
const REPLY = ' '
const REPLY_KEPT = '1 hour'
const isReply = (key: string) => key.startsWith(REPLY)
const IS_REPLY = `key like '${REPLY}%'`

export const replyKey = (call: string): string => `${REPLY}${call}`

/** Answers kept for one API key. Further keys are refused, because dropping an answer early would break the promise. */
const MOST_ANSWERS = 100_000
const COUNTED_FOR_MS = 60_000
const RETRY_SECONDS = 3600
const REMOVED_AT_ONCE = 5_000
const MOST_UNDONE = 10_000

/** For so long the network can still tell what became of the first call: archives are searched for two hours. */
const RESOLVED = '1 hour'

interface Answer {
  readonly result: string | null
  readonly failure: Failure | null
}

interface FoundAnswer extends Answer {
  /** Under which the network knows the call; null where a version before has begun it. */
  readonly callId: string | null
  readonly isRecent: boolean
}

/** A first call with its key; `since` as the database wrote it. */
interface Begun {
  readonly apiKeyId: number
  readonly key: string
  readonly callId: string
  readonly since: string
}

/** Carries out the call, which the network gets to know under this id. */
type Run = (call: Forwarded) => Promise<Result>

/** The caller was told that it may have been carried out, or nothing at all. */
const isOpen = ({ result, failure }: Answer): boolean =>
  failure === null ? result === null : failure.certain === false

/** Failures that ask the caller to try again and did nothing: the next call with the key counts as the first one. */
const leavesNoTrace = ({ code, certain }: Failure): boolean =>
  (code === 'rate_limited' || code === 'unavailable') && certain !== false

export class IdempotentCalls {
  readonly #db: Queryable
  readonly #logger: Logger
  /** The number of calls of this process that use a key now, by API key and key. */
  readonly #underWay = new Map<string, number>()
  /** The number of answers kept for an API key. */
  readonly #counts = new LRUCache<number, number>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
    ttl: COUNTED_FOR_MS,
  })
  /** The ids of calls that certainly did nothing, though the database may still have them as begun, by API key and key. */
  readonly #undone = new LRUCache<string, string>({
    maxSize: MOST_UNDONE,
    sizeCalculation: () => 1,
  })

  constructor(db: Queryable, logger: Logger) {
    this.#db = db
    this.#logger = logger
  }

  /**
   * Resolves with the answer of `run`, or with that of the first call with this key. `isTold`: the network tells what became
   * of a call when it gets it again under the same id, so a first one whose outcome is unknown is resolved so.
   */
  async once(apiKeyId: number, key: string, run: Run, isTold = false): Promise<Result> {
    if (key.length === 0 || key.length > KEY_LENGTH) {
      throw failed('bad_request', `the Idempotency-Key must have 1 to ${KEY_LENGTH} characters`)
    }
    const id = `${apiKeyId} ${key}`
    this.#underWay.set(id, (this.#underWay.get(id) ?? 0) + 1)
    try {
      if (!isReply(key)) await this.#assertRoom(apiKeyId)
      const begun = { id: this.#newCallId(id), isRepeated: false }
      const since = await this.#begin(apiKeyId, key, begun.id)
      if (since !== undefined) {
        return await this.#execute({ apiKeyId, key, callId: begun.id, since }, () => run(begun))
      }
      // Before it is read: a call that ends meanwhile is not taken for one that was given up.
      const isUnderWay = (this.#underWay.get(id) ?? 0) > 1
      const first = await this.#find(apiKeyId, key)
      const callId = isTold && !isUnderWay && first?.isRecent && isOpen(first) && first.callId
      if (!callId) return answered(first, isUnderWay)
      return await this.#resolve(apiKeyId, key, first, () => run({ id: callId, isRepeated: true }))
    } finally {
      const left = (this.#underWay.get(id) ?? 1) - 1
      if (left > 0) this.#underWay.set(id, left)
      else this.#underWay.delete(id)
    }
  }

  /** That of a call before, which did nothing. Of two calls at the same time only one may have it. */
  #newCallId(id: string): string {
    const undone = this.#undone.get(id)
    this.#undone.delete(id)
    return undone ?? randomUUID()
  }

  /** When this call began, if it is the first one with its key. */
  async #begin(apiKeyId: number, key: string, callId: string): Promise<string | undefined> {
    try {
      const [begun] = await this.#db.query<{ since: string }>(
        `insert into idempotent_call as c (api_key_id, key, call_id) values ($1, $2, $3)
         on conflict (api_key_id, key) do update
           set begun_at = now(), call_id = excluded.call_id, result = null, failure = null
           where c.begun_at < now() - interval '${KEPT}'
              or c.call_id = excluded.call_id and c.result is null and c.failure is null
         returning begun_at::text as since`,
        [apiKeyId, key, callId],
      )
      return begun?.since
    } catch (cause) {
      this.#undone.set(`${apiKeyId} ${key}`, callId)
      if (!isTransient(cause)) throw cause
      // It may be noted, but it is not carried out.
      const { certain: _, ...failure } = cause.failure
      throw new RequestFailed(failure, { cause })
    }
  }

  async #execute(begun: Begun, run: () => Promise<Result>): Promise<Result> {
    const { apiKeyId, key } = begun
    try {
      const result = await run()
      await this.#keep(apiKeyId, key, { result: result.json, failure: null })
      return result
    } catch (cause) {
      const failure: Failure =
        cause instanceof RequestFailed ? cause.failure : { code: 'internal', description: '' }
      if (leavesNoTrace(failure)) await this.#giveUp(begun)
      else await this.#keep(apiKeyId, key, { result: null, failure })
      throw cause
    }
  }

  /** A deletion whose answer got lost may come late: it must not take the call that has begun since. */
  async #giveUp({ apiKeyId, key, callId, since }: Begun): Promise<void> {
    try {
      await this.#db.query(
        'delete from idempotent_call where api_key_id = $1 and key = $2 and begun_at = $3::timestamptz',
        [apiKeyId, key, since],
      )
    } catch (err) {
      this.#undone.set(`${apiKeyId} ${key}`, callId)
      this.#logger.warn({ err, apiKeyId }, 'an Idempotency-Key could not be given up yet')
    }
  }

  /** Makes the first call once more under its id. What leaves its outcome open changes nothing of its answer. */
  async #resolve(
    apiKeyId: number,
    key: string,
    first: Answer,
    run: () => Promise<Result>,
  ): Promise<Result> {
    try {
      const result = await run()
      await this.#keep(apiKeyId, key, { result: result.json, failure: null })
      return result
    } catch (cause) {
      if (!(cause instanceof RequestFailed) || leavesNoTrace(cause.failure)) throw cause
      // A refusal of now, perhaps before the network was asked, says nothing of the first try.
      return answered(first, false)
    }
  }

  /** An answer that cannot be stored is still given; a repeated call then learns that the message may have been sent. */
  async #keep(apiKeyId: number, key: string, { result, failure }: Answer): Promise<void> {
    if (!isReply(key)) this.#counts.set(apiKeyId, (this.#counts.get(apiKeyId) ?? 0) + 1)
    try {
      await this.#db.query(
        'update idempotent_call set result = $3, failure = $4 where api_key_id = $1 and key = $2',
        [apiKeyId, key, result, failure && JSON.stringify(failure)],
      )
    } catch (err) {
      this.#logger.error({ err, apiKeyId }, 'the answer to a call with an Idempotency-Key was lost')
    }
  }

  async #find(apiKeyId: number, key: string): Promise<FoundAnswer | undefined> {
    const [answer] = await this.#db.query<FoundAnswer>(
      `select result, failure, call_id as "callId", begun_at > now() - interval '${RESOLVED}' as "isRecent"
         from idempotent_call where api_key_id = $1 and key = $2`,
      [apiKeyId, key],
    )
    return answer
  }

  async #assertRoom(apiKeyId: number): Promise<void> {
    const count = this.#counts.get(apiKeyId) ?? (await this.#count(apiKeyId))
    if (count < MOST_ANSWERS) return
    const description = 'too many calls with an Idempotency-Key within 24 hours'
    throw failed('rate_limited', description, { retryAfterSeconds: RETRY_SECONDS })
  }

  async #count(apiKeyId: number): Promise<number> {
    const [row] = await this.#db.query<{ count: number }>(
      `select count(*) as count from idempotent_call where api_key_id = $1 and not ${IS_REPLY}`,
      [apiKeyId],
    )
    const count = row?.count ?? 0
    this.#counts.set(apiKeyId, count)
    return count
  }
}

function answered(answer: Answer | undefined, isUnderWay: boolean): Result {
  if (answer?.failure) throw new RequestFailed(answer.failure)
  if (answer?.result != null) return { json: answer.result }
  // Without a row the first call has just ended and did nothing: the caller may try again.
  if (isUnderWay || !answer) {
    throw failed('conflict', 'a call with this Idempotency-Key is under way')
  }
  const description =
    'the first call with this Idempotency-Key ended without an answer; the message may have been sent'
  throw failed('timeout', description, { reason: 'sent_unconfirmed', certain: false })
}

/** Deletes expired answers. */
export async function forgetAnswers(db: Queryable): Promise<void> {
  for (const old of [
    `${IS_REPLY} and begun_at < now() - interval '${REPLY_KEPT}'`,
    `begun_at < now() - interval '${KEPT}'`,
  ]) {
    const forget = `
      delete from idempotent_call where (api_key_id, key) in (
        select api_key_id, key from idempotent_call
         where ${old} order by begun_at limit ${REMOVED_AT_ONCE})
      returning 1`
    while ((await db.query(forget)).length === REMOVED_AT_ONCE);
  }
}

/** Updates that their owner has sent again are answered again. */
export async function forgetReplies(db: Queryable, apiKeyId: number): Promise<void> {
  await db.query(`delete from idempotent_call where api_key_id = $1 and ${IS_REPLY}`, [apiKeyId])
}
