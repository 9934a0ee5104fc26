/** GET /user/usage and /user/logs/api-requests: figures by hour or day, and single requests. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'
import { invalidField } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'
import { listRequests, type StoredRequest } from '../../observability/request-journal.ts'
import { readUsage, stepMs, type UsageStep, usageSeries } from '../../observability/usage.ts'
import { ApiRequest, Time, UsageReport } from '../../records/usage.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { cursorOf, pageOf, positionOf, timeOf } from './page.ts'

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const Query = Type.Object(
  {
    from: Type.Optional(Time),
    to: Type.Optional(Time),
    step: Type.Optional(Type.String({ enum: ['hour', 'day'], default: 'hour' })),
    credential_id: Type.Optional(Id),
    api_key_id: Type.Optional(Id),
  },
  { additionalProperties: false },
)

/** The range without `from`: 24 hours in hours, 30 days in days. */
const usualSteps: Readonly<Record<UsageStep, number>> = { hour: 24, day: 30 }

/** A month of hours or a year of days is as much as a chart shows. */
const maxSteps: Readonly<Record<UsageStep, number>> = { hour: 31 * 24, day: 366 }

export const usageRoutes: FastifyPluginAsyncTypebox<UserRecordsOptions> = async (
  app,
  { database, authenticate },
) => {
  app.get(
    '/user/usage',
    {
      onRequest: authenticate,
      schema: {
        tags: ['account'],
        summary: 'Usage and error figures',
        security: [{ jwt: [] }, { pat: [] }],
        querystring: Query,
        response: answers(UsageReport),
      },
    },
    async ({ user, query }) => {
      const step: UsageStep = query.step === 'day' ? 'day' : 'hour'
      const { from, to } = rangeOf(query, step)
      const sums = await readUsage(database, {
        userId: user.id,
        credentialId: query.credential_id,
        apiKeyId: query.api_key_id,
        from: new Date(from),
        to: new Date(to),
        step,
      })
      const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), step }
      return ok({ ...range, ...usageSeries(sums, { from, to, step }) })
    },
  )
}

interface Asked {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Figures are kept by the hour, so the range is widened to whole steps. */
function rangeOf(asked: Asked, step: UsageStep): { from: number; to: number } {
  const ms = stepMs[step]
  const end = asked.to === undefined ? Date.now() : timeOf('to', asked.to)
  const to = Math.ceil(end / ms) * ms
  const start = asked.from === undefined ? undefined : timeOf('from', asked.from)
  const from = start === undefined ? to - usualSteps[step] * ms : Math.floor(start / ms) * ms
  if (from >= to) throw invalidField('from', 'must be before "to"')
  if (to - from > maxSteps[step] * ms) {
    throw invalidField('from', `must be at most ${maxSteps[step]} ${step}s before "to"`)
  }
  return { from, to }
}

const RequestsQuery = Type.Object(
  {
    ...PageQuery.properties,
    api_key_id: Type.Optional(Id),
    credential_id: Type.Optional(Id),
    error_code: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
    status: Type.Optional(Type.Enum(['2xx', '4xx', '5xx'])),
    since: Type.Optional(Time),
    until: Type.Optional(Time),
    method: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    request_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  },
  { additionalProperties: false },
)

export interface UserRecordsOptions {
  readonly database: Queryable
  /** Sets `request.user`. */
  readonly authenticate: onRequestAsyncHookHandler
}

export const logRoutes: FastifyPluginAsyncTypebox<UserRecordsOptions> = async (
  app,
  { database, authenticate },
) => {
  app.get(
    '/user/logs/api-requests',
    {
      onRequest: authenticate,
      schema: {
        tags: ['account'],
        summary: 'The latest requests, newest first',
        description:
          '`method` and `request_id` look at 10,000 requests at a time: a page may have few or none, and `next_before` goes on from there.',
        security: [{ jwt: [] }, { pat: [] }],
        querystring: RequestsQuery,
        response: answers(PageOf(ApiRequest)),
      },
    },
    async ({ user, query }) => {
      const { limit, since, until } = query
      const { requests, reached } = await listRequests(database, {
        userId: user.id,
        apiKeyId: query.api_key_id,
        credentialId: query.credential_id,
        errorCode: query.error_code,
        status: query.status,
        since: since === undefined ? undefined : new Date(timeOf('since', since)),
        until: until === undefined ? undefined : new Date(timeOf('until', until)),
        method: query.method,
        requestId: query.request_id,
        before: query.before === undefined ? undefined : positionOf(query.before),
        limit: limit + 1,
      })
      const page = pageOf(requests, limit, ({ at, id }) => cursorOf({ at: at.getTime(), id }))
      if (reached) page.next_before = cursorOf(reached)
      return ok({ ...page, items: page.items.map(present) })
    },
  )
}

const present = (request: StoredRequest) => ({ ...request, at: request.at.toISOString() })
