/** GET /health/live and /health/ready: for whoever restarts this process or sends it requests. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type TSchema, Type } from 'typebox'
import { failed } from '../../machines/model/failure.ts'
import { answers, ok } from './envelope.ts'
import type { Readiness } from './readiness.ts'

export interface HealthOptions {
  readonly readiness: Pick<Readiness, 'ask'>
  /** What is missing though requests can be served, in words for an operator. */
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
