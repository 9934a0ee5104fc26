/** A key's webhook for its owner: the log of deliveries, the secret that signs them, and delivering again. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { ApiKeyActor } from '../../../actors/api-key/actor.ts'
import { failed, invalidField } from '../../../machines/model/failure.ts'
import type { Database } from '../../database/database.ts'
import {
  bounded,
  changeKeeps,
  headOf,
  isLong,
  keepsOf,
  listExchanges,
} from '../../exchanges/log.ts'
import { asOwner, type KeyService } from '../../keys/service.ts'
import {
  Delivery,
  ExchangeChoice,
  SigningSecretRecord,
  WebhookExchanges,
} from '../../records/api-key.ts'
import type { Vault } from '../../security/vault.ts'
import { storedUpdate, updateFrom, updateSince } from '../../updates/read.ts'
import { listDeliveries, STATUS_CLASSES, type StoredDelivery } from '../../webhooks/delivery-log.ts'
import type { SigningSecret, SigningSecrets } from '../../webhooks/secrets.ts'
import { carriedOut } from '../changes.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { type Authenticated, forUsers, IdParams, inTurn, userOf } from './owner.ts'
import { cursorOf, pageOf, positionOf, timeOf } from './page.ts'
import type { UserRecordsOptions } from './usage.ts'

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const Query = Type.Object(
  {
    ...PageQuery.properties,
    api_key_id: Type.Optional(Id),
    update_id: Type.Optional(Id),
    outcome: Type.Optional(Type.Union([Type.Literal('delivered'), Type.Literal('failed')])),
    status: Type.Optional(
      Type.Enum([...STATUS_CLASSES], { description: '`none`: there was no answer' }),
    ),
    since: Type.Optional(Type.String({ format: 'date-time' })),
    until: Type.Optional(Type.String({ format: 'date-time' })),
    kind: Type.Optional(
      Type.String({ pattern: '^\\w{1,64}$', description: 'The kind of the update' }),
    ),
    chat_id: Type.Optional(Type.Integer()),
    text: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Anywhere in the update' }),
    ),
    trace_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'The request that caused it' }),
    ),
  },
  { additionalProperties: false },
)

interface WebhookLogOptions extends UserRecordsOptions {
  /** Writes the buffered attempts to the table. */
  flush(): Promise<void>
}

export const webhookLogRoutes: FastifyPluginAsyncTypebox<WebhookLogOptions> = async (
  app,
  { database, authenticate, flush },
) => {
  forUsers(app, authenticate)
  app.get(
    '/user/logs/webhook-deliveries',
    {
      schema: {
        tags: ['account'],
        summary: 'The latest webhook deliveries, newest first',
        description:
          '`kind`, `chat_id`, `text` and `trace_id` look at 10,000 attempts at a time, at updates that are still stored: a page may have few or none, and `next_before` goes on from there.',
        querystring: Query,
        response: answers(PageOf(Delivery)),
      },
    },
    async (request, reply) =>
      inTurn(request, reply, async () => {
        const { user, query } = request
        const { limit } = query
        await flush()
        const at = (field: 'since' | 'until') => {
          const text = query[field]
          return text === undefined ? undefined : new Date(timeOf(field, text))
        }
        const { deliveries, reached } = await listDeliveries(database, {
          userId: user.id,
          apiKeyId: query.api_key_id,
          updateId: query.update_id,
          outcome: query.outcome,
          status: query.status,
          since: at('since'),
          until: at('until'),
          kind: query.kind,
          chatId: query.chat_id,
          text: query.text,
          traceId: query.trace_id,
          before: query.before === undefined ? undefined : positionOf(query.before),
          limit: limit + 1,
        })
        const page = pageOf(deliveries, limit, ({ at, id }) => cursorOf({ at: at.getTime(), id }))
        if (reached) page.next_before = cursorOf(reached)
        return ok({ ...page, items: page.items.map(presentDelivery) })
      }),
  )
}

const presentDelivery = (delivery: StoredDelivery) => ({
  ...delivery,
  at: delivery.at.toISOString(),
  next_attempt_at: delivery.next_attempt_at?.toISOString() ?? null,
  delivered_at: delivery.delivered_at?.toISOString() ?? null,
  update_at: delivery.update_at?.toISOString() ?? null,
})

const Time = Type.String({ format: 'date-time' })

const ReplayBody = Type.Object(
  {
    from_update_id: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
    since: Type.Optional(Time),
  },
  { additionalProperties: false },
)

interface WebhookRoutesOptions extends Authenticated {
  readonly keyService: KeyService
  readonly db: Database
  readonly secrets: SigningSecrets
  readonly vault: Vault
  /** Writes the buffered attempts to the table. */
  flush(): Promise<void>
  readonly keys: { find(apiKeyId: number): Promise<ApiKeyActor> }
  now(): number
}

const tags = ['api keys']

type Routes = FastifyPluginAsyncTypebox<WebhookRoutesOptions>

const secretRoutes: Routes = async (app, { keyService, secrets, now }) => {
  app.get(
    '/api_keys/:id/webhook/secret',
    {
      schema: {
        tags,
        summary: 'The secret that signs deliveries, once there is one',
        params: IdParams,
        response: answers(SigningSecretRecord),
      },
    },
    async (request) => {
      const { api_key_id } = await keyService.find(userOf(request), request.params.id)
      const secret = await secrets.find(api_key_id)
      if (!secret) throw failed('not_found')
      return ok(presentSecret(secret, now()))
    },
  )

  app.post(
    '/api_keys/:id/webhook/secret',
    {
      schema: {
        tags,
        summary: 'A new secret; the one before signs along for 24 hours',
        params: IdParams,
        response: answers(SigningSecretRecord),
      },
    },
    async (request) => {
      const key = await keyService.usable(userOf(request), request.params.id)
      return ok(
        presentSecret(await secrets.rotate(key.api_key_id, key.credential_id, now()), now()),
      )
    },
  )
}

const replayRoute: Routes = async (app, { keyService, db, keys }) => {
  app.post(
    '/api_keys/:id/webhook/replay',
    {
      schema: {
        tags,
        summary: 'Delivers again, from an update or from a time on',
        params: IdParams,
        body: ReplayBody,
        response: answers(Type.Object({ from_update_id: Type.Integer() })),
      },
    },
    async (request) => {
      const { from_update_id: from, since } = request.body
      const key = await keyService.usable(userOf(request), request.params.id)
      if (!key.webhook) throw failed('bad_request', 'the key has no webhook')
      if ((from === undefined) === (since === undefined)) {
        throw invalidField('from_update_id', 'or "since" must be given, and not both')
      }
      const actor = await keys.find(key.api_key_id)
      const first =
        since === undefined
          ? await updateFrom(db, key.credential_id, from ?? 0)
          : await updateSince(db, key.credential_id, new Date(timeOf('since', since)))
      // Later updates are delivered anyway.
      const after = Math.min((first ?? actor.newest + 1) - 1, actor.newest)
      await carriedOut(request, asOwner(actor.changeWebhook({ kind: 'replay', after })))
      return ok({ from_update_id: after + 1 })
    },
  )
}

const exchangeRoutes: Routes = async (app, { keyService, db, vault, flush }) => {
  const path = '/api_keys/:id/webhook/exchanges'
  app.get(
    path,
    {
      schema: {
        tags,
        summary:
          'What went over the wire in the newest attempts, or in those at one update; 50 at most',
        params: IdParams,
        querystring: Type.Object({ update_id: Type.Optional(Id) }, { additionalProperties: false }),
        response: answers(WebhookExchanges),
      },
    },
    async (request) => {
      const key = await keyService.find(userOf(request), request.params.id)
      const { api_key_id: apiKeyId, credential_id: credentialId } = key
      await flush()
      const updateId = request.query.update_id
      const found = await listExchanges({ db, vault }, { apiKeyId, updateId })
      const items = found.map((one) => ({ ...one, at: one.at.toISOString() }))
      const stored =
        updateId === undefined ? undefined : await storedUpdate(db, credentialId, updateId)
      const update =
        stored === undefined ? null : { body: bounded(headOf(stored)), is_cut: isLong(stored) }
      return ok({ items, update, keep: await keepsOf(db, apiKeyId) })
    },
  )

  app.put(
    path,
    {
      schema: {
        tags,
        summary: 'Of which attempts headers and bodies are kept',
        params: IdParams,
        body: Type.Object(ExchangeChoice.properties, { additionalProperties: false }),
        response: answers(ExchangeChoice),
      },
    },
    async (request) => {
      const { api_key_id } = await keyService.find(userOf(request), request.params.id)
      await changeKeeps(db, api_key_id, request.body.keep)
      return ok({ keep: request.body.keep })
    },
  )
}

export const webhookRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate, 'keys')
  for (const routes of [secretRoutes, replayRoute, exchangeRoutes]) {
    await routes(app, options)
  }
}

function presentSecret({ secret, createdAt, previous }: SigningSecret, now: number) {
  const overlaps = previous !== undefined && now < previous.until
  return {
    secret,
    created_at: new Date(createdAt).toISOString(),
    previous_until: overlaps ? new Date(previous.until).toISOString() : null,
  }
}
