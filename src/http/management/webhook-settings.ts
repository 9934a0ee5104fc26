/** The webhook of a key: its owner sets, removes and tests it without the text of the key. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { ApiKeyActor } from '../../../actors/api-key/actor.ts'
import type { Webhooks } from '../../../actors/ports/webhooks.ts'
import { mayReceive } from '../../../machines/api-key/events.ts'
import { failed, readBack } from '../../../machines/model/failure.ts'
import { UPDATE_KINDS, wantedFrom } from '../../../machines/model/update-kinds.ts'
import type { WebhookTarget } from '../../../machines/webhook/terms.ts'
import { asOwner, type KeyService } from '../../keys/service.ts'
import { ApiKeyRecord, TestAttempt } from '../../records/api-key.ts'
import {
  checkSecretToken,
  parseWebhookUrl,
  webhookUrl,
  wholeUrl,
  withScheme,
} from '../../webhooks/address.ts'
import { headersAt, headersFrom } from '../../webhooks/headers.ts'
import { developerOf } from '../access.ts'
import { carriedOut, describeChange } from '../changes.ts'
import { answers, ok } from '../envelope.ts'
import { type Authenticated, forUsers, IdParams, userOf } from './owner.ts'

const Url = Type.String({ minLength: 1, maxLength: 2_048 })
const SecretToken = Type.String({ maxLength: 256 })

const Headers = Type.Array(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 64 }),
      value: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024 })),
    },
    { additionalProperties: false },
  ),
  {
    maxItems: 10,
    description:
      'Added to every delivery. Values are shown nowhere; one that is left out stays, as all do without this list, while the address keeps its origin.',
  },
)

const SetBody = Type.Object(
  {
    url: Url,
    secret_token: Type.Optional(SecretToken),
    headers: Type.Optional(Headers),
    max_connections: Type.Integer({ minimum: 1, maximum: 100, default: 40 }),
    allowed_updates: Type.Optional(Type.Array(Type.Enum([...UPDATE_KINDS]), { maxItems: 100 })),
    drop_pending_updates: Type.Boolean({ default: false }),
  },
  { additionalProperties: false },
)
const TestBody = Type.Object(
  {
    url: Type.Optional(Url),
    secret_token: Type.Optional(SecretToken),
    headers: Type.Optional(Headers),
  },
  { additionalProperties: false },
)

/** An update without a message: bots ignore it. */
const TEST_UPDATE = { updateId: 0, body: '{"update_id":0}' }
const TEST_MS = 30_000

interface WebhookSettingsOptions extends Authenticated {
  readonly keyService: KeyService
  readonly keys: { find(apiKeyId: number): Promise<ApiKeyActor> }
  readonly port: Pick<Webhooks, 'open'>
  readonly allowPrivate: boolean
  pace(apiKeyId: number): void
}

const tags = ['api keys']
const params = IdParams

type Routes = FastifyPluginAsyncTypebox<WebhookSettingsOptions>

const settingRoute: Routes = async (app, options) => {
  app.put(
    '/api_keys/:id/webhook',
    {
      schema: {
        tags,
        summary: 'Has updates delivered to an address, as setWebhook does',
        params,
        body: SetBody,
        response: answers(ApiKeyRecord),
      },
    },
    async (request) => {
      const { url, allowed_updates, drop_pending_updates } = request.body
      const { key, actor } = await usableKey(options, userOf(request), request.params.id)
      if (!mayReceive(key)) {
        throw failed('forbidden', 'the key lacks the scope bot:receive', {
          reason: 'missing_scope',
          params: { scope: 'bot:receive' },
        })
      }
      options.pace(key.api_key_id)
      const target = targetOf(options, { ...request.body, url }, actor.webhook)
      describeChange(request, {
        before: { host: hostOf(actor.webhook) },
        after: { host: hostOf(target), max_connections: target.maxConnections, allowed_updates },
      })
      const by = developerOf(request)
      if (by) await options.keyService.hold(key.api_key_id, by)
      const dropTo = drop_pending_updates ? actor.newest : undefined
      await carriedOut(request, asOwner(actor.changeWebhook({ kind: 'set', target, dropTo })))
      if (allowed_updates)
        await asOwner(actor.allow(wantedFrom(allowed_updates, { others: false })))
      return ok(await readBack(options.keyService.find(userOf(request), key.api_key_id)))
    },
  )
}

const removingRoute: Routes = async (app, options) => {
  app.delete(
    '/api_keys/:id/webhook',
    {
      schema: { tags, summary: 'Removes the webhook', params, response: answers(ApiKeyRecord) },
    },
    async (request) => {
      const { key, actor } = await usableKey(options, userOf(request), request.params.id)
      if (!actor.hasWebhook) throw failed('bad_request', 'the key has no webhook')
      const removing = actor.changeWebhook({ kind: 'delete', dropTo: undefined })
      await carriedOut(request, asOwner(removing))
      return ok(await readBack(options.keyService.find(userOf(request), key.api_key_id)))
    },
  )
}

const testingRoute: Routes = async (app, options) => {
  app.post(
    '/api_keys/:id/webhook/test',
    {
      schema: {
        tags,
        summary: 'Delivers an empty update once, to the webhook or to another address',
        params,
        body: TestBody,
        response: answers(TestAttempt),
      },
    },
    async (request) => {
      const { url } = request.body
      const { key, actor } = await usableKey(options, userOf(request), request.params.id)
      options.pace(key.api_key_id)
      const current = actor.webhook
      const target =
        url === undefined
          ? current
          : targetOf(options, { ...request.body, url, max_connections: 1 }, current)
      if (!target) throw failed('bad_request', 'the key has no webhook')
      const endpoint = options.port.open(actor.facts, target)
      try {
        const signal = AbortSignal.timeout(TEST_MS)
        const {
          ok: delivered,
          status,
          error,
          durationMs,
        } = await endpoint.deliver(TEST_UPDATE, signal)
        return ok({
          delivered,
          status: status ?? null,
          error: error ?? null,
          duration_ms: Math.round(durationMs),
        })
      } finally {
        endpoint.close()
      }
    },
  )
}

export const webhookSettingsRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate, 'keys')
  for (const routes of [settingRoute, removingRoute, testingRoute]) {
    await routes(app, options)
  }
}

/** The rest of an address may be a secret. */
const hostOf = (target: WebhookTarget | undefined) => target && webhookUrl(target.url).host

async function usableKey({ keyService, keys }: WebhookSettingsOptions, userId: number, id: number) {
  const key = await keyService.usable(userId, id)
  return { key, actor: await keys.find(key.api_key_id) }
}

type Given = Pick<Static<typeof SetBody>, 'url' | 'secret_token' | 'headers' | 'max_connections'>

function targetOf(
  { allowPrivate }: WebhookSettingsOptions,
  given: Given,
  current: WebhookTarget | undefined,
): WebhookTarget {
  const { secret_token: secretToken, headers, max_connections: maxConnections } = given
  const url = wholeUrl(given.url, current?.url)
  parseWebhookUrl(url, allowPrivate)
  checkSecretToken(secretToken ?? '')
  const address = { url: withScheme(url), ipAddress: undefined, certificate: undefined }
  return {
    ...address,
    secretToken: secretToken || undefined,
    headers: headers ? headersFrom(headers, address, current) : headersAt(address, current),
    maxConnections,
  }
}
