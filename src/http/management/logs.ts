/** GET /user/logs/api-requests: what the user's keys and the user asked of the service, and what came of it. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'
import type { Queryable } from '../../database/database.ts'
import { listRequests, type StoredRequest } from '../../observability/request-journal.ts'
import { ApiRequest } from '../../records/usage.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { cursorOf, pageOf, positionOf } from './page.ts'

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const Query = Type.Object(
  {
    ...PageQuery.properties,
    api_key_id: Type.Optional(Id),
    credential_id: Type.Optional(Id),
    error_code: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
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
        security: [{ jwt: [] }, { pat: [] }],
        querystring: Query,
        response: answers(PageOf(ApiRequest)),
      },
    },
    async ({ user, query }) => {
      const { limit } = query
      const found = await listRequests(database, {
        userId: user.id,
        apiKeyId: query.api_key_id,
        credentialId: query.credential_id,
        errorCode: query.error_code,
        before: query.before === undefined ? undefined : positionOf(query.before),
        limit: limit + 1,
      })
      const page = pageOf(found, limit, ({ at, id }) => cursorOf({ at: at.getTime(), id }))
      return ok({ ...page, items: page.items.map(present) })
    },
  )
}

const present = (request: StoredRequest) => ({ ...request, at: request.at.toISOString() })
