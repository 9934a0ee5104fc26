/** GET /user/logs/api-requests: what the user's keys and the user asked of the service, and what came of it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'
import type { Queryable } from '../../database/database.ts'
import { Nullable } from '../../json/nullable.ts'
import { listRequests, type StoredRequest } from '../../observability/list-requests.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { cursorOf, pageOf, positionOf } from './page.ts'

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const ApiRequest = Type.Object({
  id: Type.Integer(),
  at: Type.String({ format: 'date-time', description: 'When it was answered' }),
  request_id: Type.String(),
  api_key_id: Nullable(Type.Integer()),
  credential_id: Nullable(Type.Integer()),
  method: Type.String({ description: 'A bot method, or the verb and path of a management call' }),
  status: Type.Integer(),
  error_code: Nullable(Type.Integer()),
  description: Nullable(Type.String()),
  duration_ms: Type.Number(),
  request_bytes: Type.Integer(),
  response_bytes: Type.Integer(),
  ip: Type.String(),
  user_agent: Nullable(Type.String()),
})

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
