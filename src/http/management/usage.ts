/** GET /user/usage: how much the user's keys and credentials did, by hour or by day. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { invalidField } from '../../../machines/model/failure.ts'
import { readUsage, stepMs, type UsageStep, usageSeries } from '../../observability/usage-series.ts'
import { Time, UsageReport } from '../../records/usage.ts'
import { answers, ok } from '../envelope.ts'
import type { UserRecordsOptions } from './logs.ts'
import { timeOf } from './page.ts'

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

/** Without `from`: a day of hours, a month of days. */
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
