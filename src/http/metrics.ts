/** GET /metrics: the figures for Prometheus, on a port of their own or behind a token. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyPluginAsync } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import type { Metrics } from '../observability/metrics.ts'

interface MetricsRouteOptions {
  readonly metrics: Metrics
  /** Asked for as `Authorization: Bearer`. */
  readonly token?: string | undefined
  /** Only for a server on a port of its own that the public cannot reach. */
  readonly isPrivate?: boolean
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Without a token and on a public server there is no such route. */
export const metricsRoute: FastifyPluginAsync<MetricsRouteOptions> = async (
  app,
  { metrics, token, isPrivate = false },
) => {
  if (!isPrivate && !token) return
  const expected = token ? digest(`Bearer ${token}`) : undefined
  app.get(
    '/metrics',
    { config: { audit: false }, schema: { hide: true } },
    async (request, reply) => {
      const given = digest(request.headers.authorization ?? '')
      if (expected && !timingSafeEqual(expected, given)) throw failed('unauthorized')
      return reply.type(metrics.contentType).send(await metrics.text())
    },
  )
}
