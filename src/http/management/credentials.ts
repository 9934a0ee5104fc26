/** One credential: look, settings, restart, delete. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
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

interface CredentialRoutesOptions extends Authenticated {
  readonly source: RecordSource
  readonly settings: Pick<ReceiveSettingsService, 'change'>
  readonly credentials: { find(credentialId: number): Promise<CredentialActor> }
}

const tags = ['credentials']
const params = CredentialParams

type Routes = FastifyPluginAsyncTypebox<CredentialRoutesOptions>

const readingRoute: Routes = async (app, { source }) => {
  app.get(
    '/platforms/credentials/:credential_id',
    {
      schema: { tags, summary: 'One linked account', params, response: answers(CredentialRecord) },
    },
    async (request) => ok(await ownCredential(source, request)),
  )
}

const settingsRoute: Routes = async (app, { source, settings }) => {
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
      const { credential_id } = await ownCredential(source, request)
      await settings.change(credential_id, request.body)
      return ok(await ownCredential(source, request))
    },
  )
}

const restartRoute: Routes = async (app, { source, credentials }) => {
  app.post(
    '/platforms/credentials/:credential_id/restart',
    { schema: { tags, summary: 'Connects anew', params, response: answers(CredentialRecord) } },
    async (request) => {
      const { credential_id } = await ownCredential(source, request)
      const actor = await credentials.find(credential_id)
      await actor.ask({ type: 'credential.restart' })
      return ok(await ownCredential(source, request))
    },
  )
}

const deletingRoute: Routes = async (app, { source, credentials }) => {
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
      const { credential_id } = await ownCredential(source, request)
      const actor = await credentials.find(credential_id)
      await actor.ask({ type: 'credential.delete' }, AbortSignal.timeout(DELETE_MS))
      return ok(true as const)
    },
  )
}

export const credentialRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate)
  for (const routes of [readingRoute, settingsRoute, restartRoute, deletingRoute]) {
    await app.register(routes, options)
  }
}

function ownCredential(
  source: RecordSource,
  request: FastifyRequest<{ Params: Static<typeof CredentialParams> }>,
) {
  return findCredential(source, userOf(request), idOf(request.params.credential_id))
}
