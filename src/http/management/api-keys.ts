/** API keys: create, list, read, change, rotate and revoke them, and see which updates wait for one. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { invalidField } from '../../../machines/model/failure.ts'
import { findCredential, type RecordSource } from '../../credentials/records.ts'
import type { Database } from '../../database/database.ts'
import { Nullable } from '../../json/schemas.ts'
import type { KeyService } from '../../keys/service.ts'
import { waitingByHour } from '../../keys/waiting.ts'
import { ApiKeyRecord, Backlog } from '../../records/api-key.ts'
import { developerOf, markOf } from '../access.ts'
import { answers, Done, done, ok, PageOf, PageQuery } from '../envelope.ts'
import { isMaskedFor } from '../on-behalf.ts'
import { NOT_BLANK } from '../validation.ts'
import {
  type Authenticated,
  forUsers,
  GIVEN_IPS,
  GivenIp,
  IdParams,
  inTurn,
  rangesOf,
  userOf,
} from './owner.ts'
import { idBefore, pageOf, timeOf } from './page.ts'

const Scope = Type.Union([Type.Literal('bot:send'), Type.Literal('bot:receive')], {
  title: 'KeyScope',
})
const Scopes = Type.Array(Scope, { minItems: 1, uniqueItems: true })
const Name = Type.String({ minLength: 1, maxLength: 100, pattern: NOT_BLANK })
const Expiry = Type.String({ format: 'date-time' })

const CreateBody = Type.Object(
  {
    name: Name,
    credential_id: Type.Integer({ minimum: 1 }),
    scopes: Scopes,
    expires_at: Type.Optional(Nullable(Expiry)),
    allowed_ips: Type.Array(GivenIp, { ...GIVEN_IPS, default: [] }),
  },
  { additionalProperties: false },
)
const ChangeBody = Type.Object(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    expires_at: Type.Optional(Nullable(Expiry)),
    allowed_ips: Type.Optional(Type.Array(GivenIp, GIVEN_IPS)),
  },
  { additionalProperties: false },
)
const RotateBody = Nullable(
  Type.Object(
    { overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })) },
    { additionalProperties: false },
  ),
)
const WithKey = Type.Intersect([ApiKeyRecord, Type.Object({ key: Type.String() })])

const ListQuery = Type.Object({
  ...PageQuery.properties,
  credential_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  search: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'In the names and hints of keys, and in the names of their accounts',
    }),
  ),
  trouble: Type.Optional(
    Type.Enum(['webhook', 'backlog'], {
      description:
        '`webhook`: keys that may receive, of which a webhook fails, rests or is suspended; `backlog`: polling ones that are behind as the alert `backlog_old` says',
    }),
  ),
  revoked: Type.Optional(
    Type.Boolean({ description: 'Only revoked keys, or only those that are not' }),
  ),
})

interface ApiKeyRoutesOptions extends Authenticated {
  readonly keyService: KeyService
  readonly source: RecordSource
  now(): number
}

const tags = ['api keys']

type Routes = FastifyPluginAsyncTypebox<ApiKeyRoutesOptions>

const readingRoutes: Routes = async (app, { keyService }) => {
  app.get(
    '/api_keys',
    {
      schema: {
        tags,
        summary: 'Keys, newest first, searched and filtered',
        querystring: ListQuery,
        response: answers(PageOf(ApiKeyRecord)),
      },
    },
    async (request) => {
      const { limit, before, credential_id, search, trouble, revoked } = request.query
      const found = await keyService.list(userOf(request), {
        credentialId: credential_id,
        search: search?.trim() || undefined,
        isMasked: isMaskedFor(request),
        trouble,
        isRevoked: revoked,
        limit: limit + 1,
        before: idBefore(before),
      })
      const page = pageOf(found, limit, ({ api_key_id }) => `${api_key_id}`)
      const mark = await markOf(request)
      return ok({ ...page, items: page.items.map((key) => ({ ...key, ...mark })) })
    },
  )

  app.get(
    '/api_keys/:id',
    { schema: { tags, summary: 'One key', params: IdParams, response: answers(ApiKeyRecord) } },
    async (request) => {
      const key = await keyService.find(userOf(request), request.params.id)
      return ok({ ...key, ...(await markOf(request)) })
    },
  )
}

const creatingRoute: Routes = async (app, { keyService, source, now }) => {
  app.post(
    '/api_keys',
    {
      schema: {
        tags,
        summary: 'Makes a key; it is shown only in this answer',
        body: CreateBody,
        response: answers(WithKey),
      },
    },
    async (request) => {
      const { name, credential_id: credentialId, scopes, expires_at, allowed_ips } = request.body
      const userId = userOf(request)
      await findCredential(source, userId, credentialId)
      const expiresAt = future(expires_at, now()) ?? undefined
      return ok(
        await keyService.create({
          userId,
          credentialId,
          name,
          scopes,
          expiresAt,
          allowedIps: rangesOf(allowed_ips),
          by: developerOf(request),
        }),
      )
    },
  )
}

const changingRoute: Routes = async (app, { keyService, now }) => {
  app.patch(
    '/api_keys/:id',
    {
      schema: {
        tags,
        summary: 'Renames, rescopes, sets the expiry and from where it may be used',
        params: IdParams,
        body: ChangeBody,
        response: answers(ApiKeyRecord),
      },
    },
    async (request) => {
      const { name, scopes, expires_at, allowed_ips } = request.body
      const change = {
        name,
        scopes,
        expiresAt: future(expires_at, now()),
        allowedIps: allowed_ips && rangesOf(allowed_ips),
      }
      return ok(await keyService.change(userOf(request), request.params.id, change))
    },
  )
}

const endingRoutes: Routes = async (app, { keyService }) => {
  app.post(
    '/api_keys/:id/rotate',
    {
      schema: {
        tags,
        summary: 'A new secret; the old one lives on for the overlap',
        description: 'Of several in a row only the two newest open the key.',
        params: IdParams,
        body: RotateBody,
        response: answers(WithKey),
      },
    },
    async (request) => {
      const overlap = request.body?.overlap_seconds ?? 0
      const id = request.params.id
      return ok(await keyService.rotate(userOf(request), id, overlap, developerOf(request)))
    },
  )

  app.delete(
    '/api_keys/:id',
    {
      schema: {
        tags,
        summary: 'Revokes the key at once',
        params: IdParams,
        response: answers(Done),
      },
    },
    async (request) => {
      await keyService.revoke(userOf(request), request.params.id)
      return done
    },
  )
}

export const apiKeyRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate, 'keys')
  for (const routes of [readingRoutes, creatingRoute, changingRoute, endingRoutes]) {
    await routes(app, options)
  }
}

function future<None extends null | undefined>(time: string | None, now: number): Date | None {
  if (typeof time !== 'string') return time
  const at = timeOf('expires_at', time)
  if (at <= now) throw invalidField('expires_at', 'must be in the future', { reason: 'not_future' })
  return new Date(at)
}

interface BacklogRouteOptions extends Authenticated {
  readonly keyService: KeyService
  readonly db: Database
  /** Writes the buffered progress of webhooks, so that the backlog is current. */
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
        params: IdParams,
        response: answers(Backlog),
      },
    },
    async (request, reply) =>
      inTurn(request, reply, async () => {
        await flush()
        const { api_key_id } = await keyService.find(userOf(request), request.params.id)
        const { oldestAt, hours } = await waitingByHour(db, api_key_id)
        return ok({
          pending_update_count: hours.reduce((sum, { updates }) => sum + updates, 0),
          oldest_at: oldestAt?.toISOString() ?? null,
          series: hours.map(({ at, updates }) => ({ at: at.toISOString(), updates })),
        })
      }),
  )
}
