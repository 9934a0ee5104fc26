/** Parameters and answers of calls of a key: those of one call, and of which calls they are kept. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Database } from '../../database/database.ts'
import { type CallLog, findCall, keepsCallsOf } from '../../exchanges/calls.ts'
import { updatesCausedBy } from '../../exchanges/caused.ts'
import { keepsOf } from '../../exchanges/log.ts'
import type { KeyService } from '../../keys/service.ts'
import { ExchangeChoices } from '../../records/api-key.ts'
import { CallExchange, CausedUpdates, Time } from '../../records/usage.ts'
import type { Vault } from '../../security/vault.ts'
import { answers, ok } from '../envelope.ts'
import { type Authenticated, forUsers, IdParams, userOf } from './owner.ts'
import { timeOf } from './page.ts'

interface CallExchangeOptions extends Authenticated {
  readonly keyService: KeyService
  readonly db: Database
  readonly vault: Vault
  readonly callLog: Pick<CallLog, 'flush'> | undefined
  /** For how many days contents are kept; 0 keeps none. */
  readonly retention: { readonly bodyDays: number }
  /** Writes the buffered attempts to the table. */
  flush(): Promise<void>
}

const tags = ['api keys']
const CallParams = Type.Object({
  ...IdParams.properties,
  request_id: Type.String({ maxLength: 100 }),
})
const Choice = Type.Pick(CallExchange, ['keep'])

type Routes = FastifyPluginAsyncTypebox<CallExchangeOptions>

const causedRoute: Routes = async (app, { keyService, db, flush }) => {
  app.get(
    '/api_keys/:id/requests/:request_id/updates',
    {
      schema: {
        tags,
        summary: 'The updates that one call caused, with the attempts to deliver them',
        description: 'Of updates that are still stored; `at` is the time of the call in the log.',
        params: CallParams,
        querystring: Type.Object({ at: Time }, { additionalProperties: false }),
        response: answers(CausedUpdates),
      },
    },
    async (request) => {
      const { id, request_id: traceId } = request.params
      const userId = userOf(request)
      const { credential_id: credentialId } = await keyService.find(userId, id)
      await flush()
      const answeredAt = new Date(timeOf('at', request.query.at))
      const caused = await updatesCausedBy(db, { userId, credentialId, traceId, answeredAt })
      return ok(
        caused.map(({ at, attempts, ...update }) => ({
          ...update,
          at: at.toISOString(),
          attempts: attempts.map((one) => ({ ...one, at: one.at.toISOString() })),
        })),
      )
    },
  )
}

const choicesRoute: Routes = async (app, { keyService, db, retention }) => {
  app.get(
    '/api_keys/:id/exchanges',
    {
      schema: {
        tags,
        summary:
          'Of which calls and webhook attempts of a key the contents are kept, and for how long',
        params: IdParams,
        response: answers(ExchangeChoices),
      },
    },
    async (request) => {
      const { api_key_id: id } = await keyService.find(userOf(request), request.params.id)
      const [calls, deliveries] = await Promise.all([keepsCallsOf(db, id), keepsOf(db, id)])
      return ok({ calls, deliveries, days: retention.bodyDays })
    },
  )
}

const exchangeRoutes: Routes = async (app, { keyService, db, vault, callLog }) => {
  app.get(
    '/api_keys/:id/requests/:request_id/exchange',
    {
      schema: {
        tags,
        summary: 'Parameters and answer of one call, if they are kept',
        params: CallParams,
        response: answers(CallExchange),
      },
    },
    async (request) => {
      const { id, request_id: requestId } = request.params
      const { api_key_id: apiKeyId } = await keyService.find(userOf(request), id)
      await callLog?.flush()
      const found = await findCall({ db, vault }, { apiKeyId, requestId })
      const exchange = found ? { ...found, at: found.at.toISOString() } : null
      return ok({ exchange, keep: await keepsCallsOf(db, apiKeyId) })
    },
  )

  app.put(
    '/api_keys/:id/requests/exchanges',
    {
      schema: {
        tags,
        summary:
          'Of which calls parameters and answers are kept; answers with updates or secrets never are',
        params: IdParams,
        body: Type.Object(Choice.properties, { additionalProperties: false }),
        response: answers(Choice),
      },
    },
    async (request) => {
      const { keep } = request.body
      await keyService.keepCalls(userOf(request), request.params.id, keep)
      return ok({ keep })
    },
  )
}

export const callExchangeRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate, 'keys')
  for (const routes of [causedRoute, choicesRoute, exchangeRoutes]) await routes(app, options)
}
