/** One credential: its record, settings, restart, deletion and health test. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { CredentialActor } from '../../../actors/credential/actor.ts'
import { readBack } from '../../../machines/model/failure.ts'
import { type Check, testCredential } from '../../credentials/health-test.ts'
import type { ReceiveSettingsService } from '../../credentials/receive-settings.ts'
import { findCredential, type RecordSource } from '../../credentials/records.ts'
import { codeOf, inWords, remedyInWords } from '../../diagnosis/words.ts'
import { Nullable } from '../../json/schemas.ts'
import { CredentialRecord, HealthReport } from '../../records/credential.ts'
import { isShared, markOf } from '../access.ts'
import { demandScope } from '../authenticate.ts'
import { carriedOut, describeChange } from '../changes.ts'
import { answers, Done, done, ok } from '../envelope.ts'
import { type Authenticated, forUsers, Id, userOf } from './owner.ts'

const TestBody = Nullable(
  Type.Object(
    { send_to: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })) },
    { additionalProperties: false },
  ),
)

interface CredentialTestOptions extends Authenticated {
  readonly source: RecordSource
  readonly credentials: { find(credentialId: number): Promise<CredentialActor> }
  now(): number
}

/** Five checks of one account, each with its result and what to do about it. */
export const credentialTestRoute: FastifyPluginAsyncTypebox<CredentialTestOptions> = async (
  app,
  { source, credentials, now, authenticate },
) => {
  forUsers(app, authenticate, 'link')
  app.post(
    '/platforms/credentials/:credential_id/test',
    {
      schema: {
        tags: ['credentials'],
        summary: 'Health test; `send_to` opts in to a real message',
        description: 'With `send_to` a personal access token also needs the scope `send`.',
        params: CredentialParams,
        body: TestBody,
        response: answers(HealthReport),
      },
    },
    async (request) => {
      const credentialId = request.params.credential_id
      if (request.body?.send_to !== undefined) demandScope(request, 'send')
      const record = await findCredential(source, userOf(request), credentialId)
      const actor = await credentials.find(credentialId)
      const report = await testCredential(actor, record, { sendTo: request.body?.send_to, now })
      return ok({
        ...report,
        checks: report.checks.map((check) => present(check, isShared(request))),
      })
    },
  )
}

const present = ({ check, ok, latencyMs, seen, code, remedy }: Check, isShared: boolean) => ({
  check,
  ok,
  latency_ms: latencyMs,
  detail: inWords(seen),
  detail_code: codeOf(seen),
  code,
  remedy: remedy && remedyInWords(remedy, isShared),
})

export const CredentialParams = Type.Object({ credential_id: Id })

const SettingsBody = Type.Object(
  {
    include_self_updates: Type.Optional(Type.Boolean()),
    include_channel_updates: Type.Optional(Type.Boolean()),
    include_channel_update_recovery: Type.Optional(Type.Boolean()),
    include_deleted_updates: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

/** Signing out and wiping take seconds; after this time the answer comes, and the work continues. */
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
      return ok(await readBack(ownCredential(source, request)))
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
      await carriedOut(request, actor.ask({ type: 'credential.restart' }))
      return ok(await readBack(ownCredential(source, request)))
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
        response: answers(Done),
      },
    },
    async (request) => {
      const { credential_id, platform, state } = await ownCredential(source, request)
      describeChange(request, { before: { platform, state } })
      const actor = await credentials.find(credential_id)
      const deleting = actor.ask({ type: 'credential.delete' }, AbortSignal.timeout(DELETE_MS))
      await carriedOut(request, deleting)
      return done
    },
  )
}

export const credentialRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate, 'link')
  for (const routes of [readingRoute, settingsRoute, restartRoute, deletingRoute]) {
    await routes(app, options)
  }
}

/** The record as the caller sees it, who owns it or has a share of it. */
export async function ownCredential(
  source: RecordSource,
  request: FastifyRequest<{ Params: Static<typeof CredentialParams> }>,
): Promise<CredentialRecord> {
  const id = request.params.credential_id
  return { ...(await findCredential(source, userOf(request), id)), ...(await markOf(request)) }
}
