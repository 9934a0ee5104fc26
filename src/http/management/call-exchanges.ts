/** Parameters and answers of calls of a key: those of one call, and of which calls they are kept. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Database } from '../../database/database.ts'
import { type CallLog, findCall, keepsCallsOf } from '../../exchanges/calls.ts'
import type { KeyService } from '../../keys/service.ts'
import { CallExchange } from '../../records/usage.ts'
import type { Vault } from '../../security/vault.ts'
import { answers, ok } from '../envelope.ts'
import { type Authenticated, forUsers, idOf, userOf } from './owner.ts'

interface CallExchangeOptions extends Authenticated {
  readonly keyService: KeyService
  readonly db: Database
  readonly vault: Vault
  readonly callLog: Pick<CallLog, 'flush'> | undefined
}

const tags = ['api keys']
const KeyParam = Type.String({ maxLength: 20 })
const Choice = Type.Pick(CallExchange, ['keep'])

export const callExchangeRoutes: FastifyPluginAsyncTypebox<CallExchangeOptions> = async (
  app,
  { keyService, db, vault, callLog, authenticate },
) => {
  forUsers(app, authenticate)

  app.get(
    '/api_keys/:id/requests/:request_id/exchange',
    {
      schema: {
        tags,
        summary: 'Parameters and answer of one call, if they are kept',
        params: Type.Object({ id: KeyParam, request_id: Type.String({ maxLength: 100 }) }),
        response: answers(CallExchange),
      },
    },
    async (request) => {
      const { id, request_id: requestId } = request.params
      const { api_key_id: apiKeyId } = await keyService.find(userOf(request), idOf(id))
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
        summary: 'Of which calls parameters and answers are kept; updates asked for are never kept',
        params: Type.Object({ id: KeyParam }),
        body: Type.Object(Choice.properties, { additionalProperties: false }),
        response: answers(Choice),
      },
    },
    async (request) => {
      const { keep } = request.body
      await keyService.keepCalls(userOf(request), idOf(request.params.id), keep)
      return ok({ keep })
    },
  )
}
