/** One credential: look, settings, restart, delete. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { CredentialActor } from '../../../actors/credential/actor.ts'
import type { ReceiveSettingsService } from '../../credentials/receive-settings.ts'
import { findCredential, type RecordSource } from '../../credentials/records.ts'
import { CredentialRecord } from '../../records/credential.ts'
import { answers, ok } from '../envelope.ts'
import { type Authenticated, forUsers, idOf, userOf } from './owner.ts'

export const CredentialParams = Type.Object({ credential_id: Type.String({ maxLength: 20 }) })

const SettingsBody = Type.Object(
  {
    include_self_updates: Type.Optional(Type.Boolean()),
    include_channel_updates: Type.Optional(Type.Boolean()),
    include_channel_update_recovery: Type.Optional(Type.Boolean()),
    include_deleted_updates: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

/** Signing out on the network and wiping take seconds; it goes on if the answer does not wait for it. */
const DELETE_MS = 30_000

export interface CredentialRoutesOptions extends Authenticated {
  readonly source: RecordSource
  readonly settings: Pick<ReceiveSettingsService, 'change'>
  readonly credentials: { find(credentialId: number): Promise<CredentialActor> }
}

const tags = ['credentials']
const params = CredentialParams

export const credentialRoutes: FastifyPluginAsyncTypebox<CredentialRoutesOptions> = async (
  app,
  { source, settings, credentials, authenticate },
) => {
  forUsers(app, authenticate)

  const owned = (userId: number, text: string) => findCredential(source, userId, idOf(text))

  app.get(
    '/platforms/credentials/:credential_id',
    {
      schema: { tags, summary: 'One linked account', params, response: answers(CredentialRecord) },
    },
    async (request) => ok(await owned(userOf(request), request.params.credential_id)),
  )

  app.patch(
    '/platforms/credentials/:credential_id/settings',
    {
      schema: {
        tags,
        summary: 'What the account receives',
        params,
        body: SettingsBody,
        response: answers(CredentialRecord),
      },
    },
    async (request) => {
      const { credential_id } = await owned(userOf(request), request.params.credential_id)
      await settings.change(credential_id, request.body)
      return ok(await owned(userOf(request), request.params.credential_id))
    },
  )

  app.post(
    '/platforms/credentials/:credential_id/restart',
    { schema: { tags, summary: 'Connects anew', params, response: answers(CredentialRecord) } },
    async (request) => {
      const { credential_id } = await owned(userOf(request), request.params.credential_id)
      const actor = await credentials.find(credential_id)
      await actor.ask({ type: 'credential.restart' })
      return ok(await owned(userOf(request), request.params.credential_id))
    },
  )

  app.delete(
    '/platforms/credentials/:credential_id',
    {
      schema: {
        tags,
        summary: 'Signs out, wipes the secrets and revokes the keys',
        params,
        response: answers(Type.Literal(true)),
      },
    },
    async (request) => {
      const { credential_id } = await owned(userOf(request), request.params.credential_id)
      const actor = await credentials.find(credential_id)
      await actor.ask({ type: 'credential.delete' }, AbortSignal.timeout(DELETE_MS))
      return ok(true as const)
    },
  )
}
