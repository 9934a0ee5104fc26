/** Routes for operators: GET /health/live, /health/ready and /metrics, with the checks of readiness. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { failed } from '../../machines/model/failure.ts'
import type { Queryable } from '../database/database.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { answers, ok } from './envelope.ts'

/** Gives up waiting after a time, without leaving a timer behind. */
export async function orElseAfter<Result>(
  ms: number,
  work: Promise<Result>,
  otherwise: Result,
): Promise<Result> {
  const done = new AbortController()
  try {
    return await Promise.race([work, delay(ms, otherwise, { signal: done.signal })])
  } finally {
    done.abort()
  }
}

/** The reason why this node is not ready, in words for an operator, or null. */
type Check = () => string | null | Promise<string | null>

export interface Readiness {
  /** `failure` is the reason where the check itself fails or takes too long. */
  addCheck(check: Check, failure?: string): void
  /** The node is not ready, for this reason, until the returned function is called. */
  notReady(reason: string): () => void
  /** From now on the node is not ready, but finishes its requests. */
  drain(): void
  /** Resolves with the first reason why it is not ready, or null. */
  ask(): Promise<string | null>
}

interface ReadinessOptions {
  readonly database: Queryable
  readonly logger: Pick<Logger, 'warn'>
  readonly withinMs?: number
}

export function createReadiness({
  database,
  logger,
  withinMs = 1_000,
}: ReadinessOptions): Readiness {
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
      logger.warn({ err: error }, failure)
      return failure
    }
  }

  async function runAll(): Promise<string | null> {
    const reasons = await Promise.all(
      checks.map(({ check, failure }) => orElseAfter(withinMs, attempt(check, failure), failure)),
    )
    return reasons.find((reason) => reason !== null) ?? null
  }

  return {
    addCheck: (check, failure = 'a readiness check failed') => void checks.push({ check, failure }),
    notReady(reason) {
      let isOver = false
      checks.push({ check: () => (isOver ? null : reason), failure: reason })
      return () => {
        isOver = true
      }
    },
    drain() {
      isDraining = true
    },
    async ask() {
      if (isDraining) return 'the service is shutting down'
      // One check for all concurrent requests, so that probes do not pile up on a slow database.
      asking ??= runAll().finally(() => {
        asking = undefined
      })
      return asking
    },
  }
}

interface HealthOptions {
  readonly readiness: Pick<Readiness, 'ask'>
  /** Parts that do not work although requests are served, in words for an operator. */
  readonly missing?: () => readonly string[]
}

const config = { audit: false }

const Live = Type.Object({ status: Type.Literal('live') })
const Ready = Type.Object({
  status: Type.Literal('ready'),
  degraded: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What is missing though requests can be served, such as the job queue',
    }),
  ),
})

const schema = <Body extends TSchema>(summary: string, body: Body) => ({
  tags: ['operations'],
  summary,
  response: answers(body),
})

export const healthRoutes: FastifyPluginAsyncTypebox<HealthOptions> = async (
  app,
  { readiness, missing = () => [] },
) => {
  app.get('/health/live', { config, schema: schema('Does the process run?', Live) }, async () =>
    ok({ status: 'live' as const }),
  )

  app.get(
    '/health/ready',
    { config, schema: schema('Can the process serve requests?', Ready) },
    async () => {
      const reason = await readiness.ask()
      if (reason !== null) throw failed('unavailable', reason, { retryAfterSeconds: 1 })
      const degraded = [...missing()]
      return ok({ status: 'ready' as const, ...(degraded.length > 0 && { degraded }) })
    },
  )
}

/** Guards data that concerns all users. */
export interface Guard {
  /** Asked for as `Authorization: Bearer`. */
  readonly token?: string | undefined
  /** Only for a server on a port of its own that the public cannot reach. */
  readonly isPrivate?: boolean
}

interface MetricsRouteOptions extends Guard {
  readonly metrics: Metrics
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * Throws for a caller without the token. Undefined if no caller may be admitted, because the port is public and there
 * is no token.
 */
export function guardOf({ token, isPrivate = false }: Guard) {
  if (!isPrivate && !token) return undefined
  const expected = token ? digest(`Bearer ${token}`) : undefined
  return ({ headers }: Pick<FastifyRequest, 'headers'>): void => {
    const given = digest(headers.authorization ?? '')
    if (expected && !timingSafeEqual(expected, given)) throw failed('unauthorized')
  }
}

/** Without a token and on a public server there is no such route. */
export const metricsRoute: FastifyPluginAsync<MetricsRouteOptions> = async (
  app,
  { metrics, ...guard },
) => {
  const assertAllowed = guardOf(guard)
  if (!assertAllowed) return
  app.get(
    '/metrics',
    { config: { audit: false }, schema: { hide: true } },
    async (request, reply) => {
      assertAllowed(request)
      return reply.type(metrics.contentType).send(await metrics.text())
    },
  )
}
