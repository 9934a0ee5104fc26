/** GET /user/usage and /user/logs/api-requests: figures by hour or day, and single requests. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'
import { invalidField } from '../../../machines/model/failure.ts'
import { methods } from '../../bot-api/methods/index.ts'
import type { Queryable } from '../../database/database.ts'
import { type CallLog, searchCalls } from '../../exchanges/calls.ts'
import { listRequests, type StoredRequest } from '../../observability/request-journal.ts'
import {
  hoursSince,
  readUsage,
  stepMs,
  type UsageStep,
  usageSeries,
} from '../../observability/usage.ts'
import { ApiRequest, Time, UsageReport } from '../../records/usage.ts'
import type { Vault } from '../../security/vault.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { forUsers, inTurn } from './owner.ts'
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
  forUsers(app, authenticate)
  app.get(
    '/user/usage',
    {
      schema: {
        tags: ['account'],
        summary: 'Usage and error figures',
        description:
          'The range is widened to whole steps. By hours it is the last 24, else 744 at most, and none is older than 35 days: older figures are kept by days. By days it is the last 30, else 366 at most.',
        querystring: Query,
        response: answers(UsageReport),
      },
    },
    async (request, reply) =>
      inTurn(request, reply, async () => {
        const { user, query } = request
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
      }),
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
  const kept = hoursSince(Date.now())
  if (step === 'hour' && from < kept) {
    const since = new Date(kept).toISOString()
    throw invalidField('step', `must be "day" before ${since}: hours are kept for 35 days`)
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
    chat_id: Type.Optional(
      Type.Integer({ description: 'As the parameter `chat_id` has it, of calls that are kept' }),
    ),
    text: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'In parameters or answer' }),
    ),
  },
  { additionalProperties: false },
)

export interface UserRecordsOptions {
  readonly database: Queryable
  /** Sets `request.user`. */
  readonly authenticate: onRequestAsyncHookHandler
}

interface LogRoutesOptions extends UserRecordsOptions {
  readonly vault: Pick<Vault, 'open'>
  readonly callLog: Pick<CallLog, 'flush'> | undefined
}

export const logRoutes: FastifyPluginAsyncTypebox<LogRoutesOptions> = async (app, options) => {
  const { database, authenticate } = options
  forUsers(app, authenticate)
  app.get(
    '/user/logs/api-requests',
    {
      schema: {
        tags: ['account'],
        summary: 'The latest requests, newest first',
        description:
          '`method` and `request_id` look at 10,000 requests at a time, `chat_id` and `text` at 300 calls of which parameters and answer are kept: a page may have few or none, and `next_before` goes on from there.',
        querystring: RequestsQuery,
        response: answers(PageOf(ApiRequest)),
      },
    },
    async (request, reply) =>
      inTurn(request, reply, async () => {
        const { user, query } = request
        const { limit } = query
        const at = (field: 'since' | 'until') => {
          const text = query[field]
          return text === undefined ? undefined : new Date(timeOf(field, text))
        }
        const filter = {
          userId: user.id,
          apiKeyId: query.api_key_id,
          credentialId: query.credential_id,
          errorCode: query.error_code,
          status: query.status,
          since: at('since'),
          until: at('until'),
          method: query.method,
          requestId: query.request_id,
          before: query.before === undefined ? undefined : positionOf(query.before),
          limit: limit + 1,
        }
        const among = await keptAmong(options, filter, { text: query.text, chatId: query.chat_id })
        const { requests, reached } = await listRequests(database, { ...filter, among })
        const page = pageOf(requests, limit, ({ at, id }) => cursorOf({ at: at.getTime(), id }))
        const end = among?.reached ? { at: among.reached.getTime(), id: 0 } : reached
        if (end) page.next_before ??= cursorOf(end)
        return ok({ ...page, items: page.items.map(present) })
      }),
  )
}

interface Around {
  readonly userId: number
  readonly apiKeyId: number | undefined
  readonly credentialId: number | undefined
  readonly since: Date | undefined
  readonly until: Date | undefined
  readonly before: { readonly at: number; readonly id: number } | undefined
}

/** The clock of another node may be ahead. */
const DAY_MS = 86_400_000

/** The kept calls with such contents; undefined where none are asked for. */
async function keptAmong(
  { database: db, vault, callLog }: LogRoutesOptions,
  { userId, apiKeyId, credentialId, since, until, before }: Around,
  sought: { readonly text: string | undefined; readonly chatId: number | undefined },
) {
  if (sought.text === undefined && sought.chatId === undefined) return undefined
  await callLog?.flush()
  const soon = Date.now() + DAY_MS
  // All calls of the time that a search has reached were looked at; within a page others of that time may follow.
  const past = before && (before.id === 0 ? before.at - 1 : before.at)
  const newest = new Date(Math.min(past ?? soon, until?.getTime() ?? soon))
  const around = { userId, apiKeyId, credentialId, since, until: newest }
  return searchCalls({ db, vault }, { ...around, ...sought })
}

/** Nothing is stored of the operation: a method always becomes the same. */
const present = (request: StoredRequest) => ({
  ...request,
  at: request.at.toISOString(),
  operation: methods.get(request.method.toLowerCase())?.operation ?? null,
})
