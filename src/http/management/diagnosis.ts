/** Diagnosis of a key: five steps in order, each with what was seen and what to do. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { causeOf, type Finding, STEPS } from '../../../machines/diagnosis/events.ts'
import { nextStep } from '../../../machines/diagnosis/machine.ts'
import type { Diagnoses, RunningDiagnosis } from '../../diagnosis/diagnoses.ts'
import { codeOf, inWords, remedyInWords } from '../../diagnosis/words.ts'
import { Nullable } from '../../json/schemas.ts'
import type { KeyService } from '../../keys/service.ts'
import { DiagnosisRecord } from '../../records/api-key.ts'
import { isShared } from '../access.ts'
import { demandScope } from '../authenticate.ts'
import { answers, ok } from '../envelope.ts'
import { type Authenticated, forUsers, IdParams, userOf } from './owner.ts'

const SendTo = Type.String({
  minLength: 1,
  maxLength: 256,
  description:
    'Opts in to a real test message to this chat; a personal access token then also needs the scope `send`',
})
const All = Type.Boolean({ description: 'Takes all steps that are left, not one' })

const StartBody = Nullable(
  Type.Object(
    {
      all: Type.Optional(All),
      send_to: Type.Optional(SendTo),
      key: Type.Optional(
        Type.String({
          maxLength: 100,
          description: 'The key as the bot has it, to be compared; it is not stored',
        }),
      ),
    },
    { additionalProperties: false },
  ),
)
const NextBody = Nullable(
  Type.Object(
    { all: Type.Optional(All), send_to: Type.Optional(SendTo) },
    { additionalProperties: false },
  ),
)

const Params = Type.Object({
  ...IdParams.properties,
  diagnosis_id: Type.String({ maxLength: 64 }),
})

interface DiagnosisRoutesOptions extends Authenticated {
  readonly keyService: KeyService
  readonly diagnoses: Diagnoses
}

const tags = ['api keys']
const response = answers(DiagnosisRecord)

type Routes = FastifyPluginAsyncTypebox<DiagnosisRoutesOptions>

const startRoute: Routes = async (app, { keyService, diagnoses }) => {
  app.post(
    '/api_keys/:id/diagnosis',
    {
      schema: {
        tags,
        summary: 'Starts a diagnosis; `all` takes every step at once',
        params: IdParams,
        body: StartBody,
        response,
      },
    },
    async (request) => {
      const { all = false, send_to, key } = request.body ?? {}
      if (send_to !== undefined) demandScope(request, 'send')
      const userId = userOf(request)
      const { api_key_id, credential_id } = await keyService.find(userId, request.params.id)
      const diagnosis = await diagnoses.start({
        userId,
        apiKeyId: api_key_id,
        credentialId: credential_id,
        sendTo: send_to,
        opens: key === undefined ? undefined : await keyService.matches(api_key_id, key),
      })
      if (all) await diagnosis.actor.ask({ type: 'diagnosis.next', all })
      return ok(present(diagnosis, isShared(request)))
    },
  )
}

const stepRoutes: Routes = async (app, { diagnoses }) => {
  app.post(
    '/api_keys/:id/diagnosis/:diagnosis_id/next',
    {
      schema: { tags, summary: 'Takes the next step', params: Params, body: NextBody, response },
    },
    async (request) => {
      const { all = false, send_to } = request.body ?? {}
      if (send_to !== undefined) demandScope(request, 'send')
      const diagnosis = await found(diagnoses, request.params, userOf(request))
      await diagnosis.actor.ask({
        type: 'diagnosis.next',
        all,
        ...(send_to !== undefined && { sendTo: send_to }),
      })
      return ok(present(diagnosis, isShared(request)))
    },
  )

  app.get(
    '/api_keys/:id/diagnosis/:diagnosis_id',
    { schema: { tags, summary: 'What was found so far', params: Params, response } },
    async (request) =>
      ok(present(await found(diagnoses, request.params, userOf(request)), isShared(request))),
  )
}

export const diagnosisRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate, 'keys')
  app.addHook('onClose', () => options.diagnoses.stop())
  for (const routes of [startRoute, stepRoutes]) {
    await routes(app, options)
  }
}

const found = (diagnoses: Diagnoses, params: Static<typeof Params>, userId: number) =>
  diagnoses.find(params.diagnosis_id, userId, params.id)

function present({ stored, actor }: RunningDiagnosis, isShared: boolean) {
  const { findings } = actor.snapshot.context
  const cause = causeOf(findings)
  const next = nextStep(findings)
  return {
    diagnosis_id: stored.diagnosisId,
    api_key_id: stored.apiKeyId,
    credential_id: stored.credentialId,
    step: next ?? null,
    steps: STEPS.map((step, place) => presentStep(step, findings[place], isShared)),
    cause: cause ? presentCause(cause) : null,
    next_action: actionOf(cause, next, isShared),
    started_at: stored.startedAt.toISOString(),
  }
}

const presentStep = (step: string, finding: Finding | undefined, isShared: boolean) => ({
  step,
  verdict: finding?.verdict ?? 'pending',
  code: finding?.code ?? null,
  evidence: (finding?.evidence ?? []).map(inWords),
  evidence_codes: (finding?.evidence ?? []).map(codeOf),
  remedy: finding?.remedy ? remedyInWords(finding.remedy, isShared) : null,
})

function presentCause({ step, code, verdict, evidence }: Finding) {
  const text = evidence.at(-1) ?? ''
  return { step, code: code ?? verdict, text: inWords(text), text_code: codeOf(text) }
}

function actionOf(
  cause: Finding | undefined,
  next: string | undefined,
  isShared: boolean,
): string | null {
  if (cause) return cause.remedy ? remedyInWords(cause.remedy, isShared) : null
  return next === undefined ? 'Nothing is wrong: look at the bot itself' : null
}
