/** POST /platforms/credentials/:id/test: five checks of one account, each with what was seen and what to do. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { CredentialActor } from '../../../actors/credential/actor.ts'
import { type Check, testCredential } from '../../credentials/health-test.ts'
import { findCredential, type RecordSource } from '../../credentials/records.ts'
import { codeOf, inWords } from '../../diagnosis/words.ts'
import { Nullable } from '../../json/nullable.ts'
import { HealthReport } from '../../records/credential.ts'
import { answers, ok } from '../envelope.ts'
import { CredentialParams } from './credentials.ts'
import { type Authenticated, forUsers, idOf, userOf } from './owner.ts'

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

export const credentialTestRoute: FastifyPluginAsyncTypebox<CredentialTestOptions> = async (
  app,
  { source, credentials, now, authenticate },
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
        response: answers(HealthReport),
      },
    },
    async (request) => {
      const credentialId = idOf(request.params.credential_id)
      const record = await findCredential(source, userOf(request), credentialId)
      const actor = await credentials.find(credentialId)
      const report = await testCredential(actor, record, { sendTo: request.body?.send_to, now })
      return ok({ ...report, checks: report.checks.map(present) })
    },
  )
}

const present = ({ check, ok, latencyMs, seen, code, remedy }: Check) => ({
  check,
  ok,
  latency_ms: latencyMs,
  detail: inWords(seen),
  detail_code: codeOf(seen),
  code,
  remedy: remedy && inWords(remedy),
})
