/** Whether this node should get requests now: its database answers, its parts agree, and it is not going down. */
import type { Queryable } from '../database/database.ts'
import type { Logger } from '../observability/log.ts'
import { within } from '../observability/within.ts'

/** Why requests should go elsewhere, in words for an operator, or null. */
type Check = () => string | null | Promise<string | null>

export interface Readiness {
  /** `failure` is the reason where the check itself fails or takes too long. */
  addCheck(check: Check, failure?: string): void
  /** From now on the answer is no, while requests under way are finished. */
  drain(): void
  /** Resolves with the first reason against, or null. */
  ask(): Promise<string | null>
}

export interface ReadinessOptions {
  readonly database: Queryable
  readonly log: Pick<Logger, 'warn'>
  readonly withinMs?: number
}

export function createReadiness({ database, log, withinMs = 1_000 }: ReadinessOptions): Readiness {
  let isDraining = false
  let asking: Promise<string | null> | undefined
  const select = async () => {
    await database.query('select 1')
    return null
  }
  const checks: { readonly check: Check; readonly failure: string }[] = [
    { check: select, failure: 'the database does not answer' },
  ]

  async function attempt(check: Check, failure: string): Promise<string | null> {
    try {
      return await check()
    } catch (error) {
      log.warn({ err: error }, failure)
      return failure
    }
  }

  async function runAll(): Promise<string | null> {
    const reasons = await Promise.all(
      checks.map(({ check, failure }) => within(withinMs, attempt(check, failure), failure)),
    )
    return reasons.find((reason) => reason !== null) ?? null
  }

  return {
    addCheck: (check, failure = 'a readiness check failed') => void checks.push({ check, failure }),
    drain() {
      isDraining = true
    },
    async ask() {
      if (isDraining) return 'the service is shutting down'
      // Shared, so that impatient probes of a slow database do not pile up on it.
      asking ??= runAll().finally(() => {
        asking = undefined
      })
      return asking
    },
  }
}
