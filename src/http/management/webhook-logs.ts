/** GET /user/logs/webhook-deliveries: every attempt to deliver an update, and what came of it. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Delivery } from '../../records/api-key.ts'
import { listDeliveries, type StoredDelivery } from '../../webhooks/list-deliveries.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import type { UserRecordsOptions } from './logs.ts'
import { cursorOf, pageOf, positionOf } from './page.ts'

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const Query = Type.Object(
  {
    ...PageQuery.properties,
    api_key_id: Type.Optional(Id),
    update_id: Type.Optional(Id),
    outcome: Type.Optional(Type.Union([Type.Literal('delivered'), Type.Literal('failed')])),
  },
  { additionalProperties: false },
)

interface WebhookLogOptions extends UserRecordsOptions {
  /** Attempts on their way to the table get there. */
  flush(): Promise<void>
}

export const webhookLogRoutes: FastifyPluginAsyncTypebox<WebhookLogOptions> = async (
  app,
  { database, authenticate, flush },
) => {
  app.get(
    '/user/logs/webhook-deliveries',
    {
      onRequest: authenticate,
      schema: {
        tags: ['account'],
        summary: 'The latest webhook deliveries, newest first',
        security: [{ jwt: [] }, { pat: [] }],
        querystring: Query,
        response: answers(PageOf(Delivery)),
      },
    },
    async ({ user, query }) => {
      const { limit } = query
      await flush()
      const found = await listDeliveries(database, {
        userId: user.id,
        apiKeyId: query.api_key_id,
        updateId: query.update_id,
        outcome: query.outcome,
        before: query.before === undefined ? undefined : positionOf(query.before),
        limit: limit + 1,
      })
      const page = pageOf(found, limit, ({ at, id }) => cursorOf({ at: at.getTime(), id }))
      return ok({ ...page, items: page.items.map(present) })
    },
  )
}

const present = (delivery: StoredDelivery) => ({
  ...delivery,
  at: delivery.at.toISOString(),
  next_attempt_at: delivery.next_attempt_at?.toISOString() ?? null,
})
