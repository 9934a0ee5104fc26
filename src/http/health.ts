/** GET /health/live and /health/ready: for whoever restarts this process or sends it requests. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { failed } from '../../actors/errors.ts'
import { answers, ok } from './envelope.ts'
import type { Readiness } from './readiness.ts'

export interface HealthOptions {
  readonly readiness: Pick<Readiness, 'ask'>
}

const config = { audit: false }

const schema = <Status extends string>(summary: string, status: Status) => ({
  tags: ['operations'],
  summary,
  response: answers(Type.Object({ status: Type.Literal(status) })),
})

export const healthRoutes: FastifyPluginAsyncTypebox<HealthOptions> = async (
  app,
  { readiness },
) => {
  app.get('/health/live', { config, schema: schema('Does the process run?', 'live') }, async () =>
    ok({ status: 'live' as const }),
  )

  app.get(
    '/health/ready',
    { config, schema: schema('Can the process serve requests?', 'ready') },
    async () => {
      const reason = await readiness.ask()
      if (reason !== null) throw failed('unavailable', reason, { retryAfterSeconds: 1 })
      return ok({ status: 'ready' as const })
    },
  )
}
