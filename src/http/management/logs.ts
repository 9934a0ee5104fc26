/** GET /user/logs/api-requests: what the user's keys and the user asked of the service, and what came of it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'
import type { Queryable } from '../../database/database.ts'
import { listRequests, type StoredRequest } from '../../observability/list-requests.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { refuseInfinity } from '../infinity.ts'
import { cursorOf, positionOf } from './page.ts'

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const OrNull = <Schema extends ReturnType<typeof Type.Integer> | ReturnType<typeof Type.String>>(
  schema: Schema,
) => Type.Union([schema, Type.Null()])

const ApiRequest = Type.Object({
  id: Type.Integer(),
  at: Type.String({ format: 'date-time', description: 'When it was answered' }),
  request_id: Type.String(),
  api_key_id: OrNull(Type.Integer()),
  credential_id: OrNull(Type.Integer()),
  method: Type.String({ description: 'A bot method, or the verb and path of a management call' }),
  status: Type.Integer(),
  error_code: OrNull(Type.Integer()),
  description: OrNull(Type.String()),
  duration_ms: Type.Number(),
  request_bytes: Type.Integer(),
  response_bytes: Type.Integer(),
  ip: Type.String(),
  user_agent: OrNull(Type.String()),
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
  app.addHook('preHandler', refuseInfinity)
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
      const items = found.slice(0, limit).map(present)
      const last = found.length > limit ? found[limit - 1] : undefined
      const next_before = last ? cursorOf({ at: last.at.getTime(), id: last.id }) : null
      return ok({ items, next_before })
    },
  )
}

const present = (request: StoredRequest) => ({ ...request, at: request.at.toISOString() })
