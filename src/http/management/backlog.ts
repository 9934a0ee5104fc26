/** GET /api_keys/{id}/backlog: what a key's bot has not taken yet, and how old it is. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Database } from '../../database/database.ts'
import type { KeyService } from '../../keys/service.ts'
import { waitingByHour } from '../../keys/waiting.ts'
import { Backlog } from '../../records/api-key.ts'
import { answers, ok } from '../envelope.ts'
import { type Authenticated, forUsers, idOf, userOf } from './owner.ts'

interface BacklogRouteOptions extends Authenticated {
  readonly keyService: KeyService
  readonly db: Database
  /** Writes how far webhooks are: the backlog is read as of now. */
  flush(): Promise<void>
}

export const backlogRoute: FastifyPluginAsyncTypebox<BacklogRouteOptions> = async (
  app,
  { keyService, db, flush, authenticate },
) => {
  forUsers(app, authenticate)

  app.get(
    '/api_keys/:id/backlog',
    {
      schema: {
        tags: ['api keys'],
        summary: 'What waits for the key, by the hour in which it came',
        params: Type.Object({ id: Type.String({ maxLength: 20 }) }),
        response: answers(Backlog),
      },
    },
    async (request) => {
      await flush()
      const { api_key_id } = await keyService.find(userOf(request), idOf(request.params.id))
      const { oldestAt, hours } = await waitingByHour(db, api_key_id)
      return ok({
        pending_update_count: hours.reduce((sum, { updates }) => sum + updates, 0),
        oldest_at: oldestAt?.toISOString() ?? null,
        series: hours.map(({ at, updates }) => ({ at: at.toISOString(), updates })),
      })
    },
  )
}
