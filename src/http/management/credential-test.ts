/** POST /platforms/credentials/:id/test: five checks of one account, each with what was seen and what to do. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { CredentialActor } from '../../../actors/credential.ts'
import { failed } from '../../../actors/errors.ts'
import { testCredential } from '../../credentials/health-test.ts'
import { findCredential, type RecordSource } from '../../credentials/records.ts'
import { answers, ok } from '../envelope.ts'
import { CredentialParams } from './credentials.ts'
import { type Authenticated, forUsers, idOf, userOf } from './owner.ts'

const TestBody = Type.Union([
  Type.Object(
    { send_to: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })) },
    { additionalProperties: false },
  ),
  Type.Null(),
])

const TestReport = Type.Object({
  healthy: Type.Boolean(),
  state: Type.String(),
  checked_at: Type.String(),
  checks: Type.Array(
    Type.Object({
      check: Type.String(),
      ok: Type.Union([Type.Boolean(), Type.Null()]),
      latency_ms: Type.Union([Type.Integer(), Type.Null()]),
      detail: Type.String(),
      remedy: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
})

export interface CredentialTestOptions extends Authenticated {
  readonly source: RecordSource
  readonly credentials: { find(credentialId: number): Promise<CredentialActor> }
}

export const credentialTestRoute: FastifyPluginAsyncTypebox<CredentialTestOptions> = async (
  app,
  { source, credentials, authenticate },
) => {
  forUsers(app, authenticate)
  app.post(
    '/platforms/credentials/:credential_id/test',
    {
      schema: {
        tags: ['credentials'],
        summary: 'Health test; `send_to` opts in to a real message',
        params: CredentialParams,
        body: TestBody,
        response: answers(TestReport),
      },
    },
    async (request) => {
      const record = await findCredential(
        source,
        userOf(request),
        idOf(request.params.credential_id),
      )
      if (!record) throw failed('not_found')
      const actor = await credentials.find(record.credential_id)
      return ok(await testCredential(actor, record, request.body?.send_to))
    },
  )
}
