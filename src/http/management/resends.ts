/** Sending updates to a key's webhook again: one, those that failed, or a range; counted, watched and stopped. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { ApiKeyActor } from '../../../actors/api-key/actor.ts'
import { failed, invalidField, readBack } from '../../../machines/model/failure.ts'
import type { Runs } from '../../../machines/webhook/progress.ts'
import type { Database } from '../../database/database.ts'
import { asOwner, type KeyService } from '../../keys/service.ts'
import { ResendRecord } from '../../records/api-key.ts'
import {
  chooseRuns,
  countResend,
  type ResendChoice,
  resendStanding,
} from '../../webhooks/resends.ts'
import { carriedOut, changesNothing, describeChange } from '../changes.ts'
import { answers, ok } from '../envelope.ts'
import { type Authenticated, forUsers, IdParams, inTurn, userOf } from './owner.ts'
import { timeOf } from './page.ts'

const UpdateId = Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }))
const Time = Type.Optional(Type.String({ format: 'date-time' }))

const ResendBody = Type.Object(
  {
    update_id: UpdateId,
    from_update_id: UpdateId,
    to_update_id: UpdateId,
    since: Time,
    until: Time,
    outcome: Type.Optional(Type.Literal('failed')),
    count_only: Type.Optional(Type.Boolean({ description: 'Tells what would be sent' })),
  },
  { additionalProperties: false },
)

interface ResendRoutesOptions extends Authenticated {
  readonly keyService: KeyService
  readonly db: Database
  readonly keys: { find(apiKeyId: number): Promise<ApiKeyActor> }
  /** Writes the buffered attempts to the table. */
  flush(): Promise<void>
}

/** Throws `bad_request` unless exactly one of the ways to chooseRuns is used. */
function choiceOf(body: Static<typeof ResendBody>): ResendChoice {
  const { update_id: one, from_update_id, to_update_id, since, until, outcome } = body
  const range = [from_update_id, to_update_id, since, until]
  const isRange = range.some((given) => given !== undefined)
  const isOne = one !== undefined
  if (isOne && (isRange || outcome !== undefined)) {
    throw invalidField('update_id', 'must be given alone, without a range or "outcome"')
  }
  if (!isOne && !isRange && outcome === undefined) {
    throw invalidField('update_id', 'or a range, or "outcome" must be given')
  }
  if ((from_update_id ?? 0) > (to_update_id ?? Number.POSITIVE_INFINITY)) {
    throw invalidField('to_update_id', 'must not be before "from_update_id"')
  }
  const at = (field: string, text: string | undefined) =>
    text === undefined ? undefined : new Date(timeOf(field, text))
  const [first, last] = [at('since', since), at('until', until)]
  if (first && last && first > last) throw invalidField('until', 'must not be before "since"')
  return {
    from: one ?? from_update_id,
    to: one ?? to_update_id,
    since: first,
    until: last,
    failed: outcome === 'failed',
  }
}

async function presented(db: Database, apiKeyId: number, isCut = false) {
  const { resend, updates, remaining } = await resendStanding(db, apiKeyId)
  const state = !resend
    ? ('none' as const)
    : resend.stoppedAt !== undefined
      ? ('stopped' as const)
      : remaining > 0
        ? ('running' as const)
        : ('done' as const)
  return {
    state,
    updates,
    remaining,
    from_update_id: resend?.runs[0]?.[0] ?? null,
    to_update_id: resend?.runs.at(-1)?.[1] ?? null,
    is_cut: isCut,
    started_at: resend?.at ?? null,
    stopped_at: resend?.stoppedAt ?? null,
  }
}

const counted = (runs: Runs, updates: number, isCut: boolean) => ({
  state: 'counted' as const,
  updates,
  remaining: updates,
  from_update_id: runs[0]?.[0] ?? null,
  to_update_id: runs.at(-1)?.[1] ?? null,
  is_cut: isCut,
  started_at: null,
  stopped_at: null,
})

const path = '/api_keys/:id/webhook/resend'
const described = (summary: string) => ({
  tags: ['api keys'],
  summary,
  params: IdParams,
  response: answers(ResendRecord),
})

export const resendRoutes: FastifyPluginAsyncTypebox<ResendRoutesOptions> = async (
  app,
  { authenticate, keyService, db, keys, flush },
) => {
  forUsers(app, authenticate, 'keys')

  app.post(
    path,
    {
      schema: {
        ...described(
          'Sends updates again: one, those that failed, or a range; or only counts them',
        ),
        body: ResendBody,
      },
    },
    async (request, reply) =>
      inTurn(request, reply, async () => {
        const key = await keyService.usable(userOf(request), request.params.id)
        const choice = choiceOf(request.body)
        if (!key.webhook) throw failed('bad_request', 'the key has no webhook')
        await flush()
        const { runs, isCut } = await chooseRuns(db, key.api_key_id, choice)
        const { updates, delivered } = await countResend(db, key.api_key_id, runs)
        if (request.body.count_only) {
          changesNothing(request)
          return ok(counted(runs, updates, isCut))
        }
        if (updates === 0) throw failed('bad_request', 'there is no such update to send again')
        describeChange(request, { after: { updates } })
        const actor = await keys.find(key.api_key_id)
        const resending = actor.changeWebhook({ kind: 'resend', runs, updates: delivered })
        await carriedOut(request, asOwner(resending))
        return ok(await readBack(presented(db, key.api_key_id, isCut)))
      }),
  )

  app.get(path, { schema: described('How far the last resend has got') }, async (request, reply) =>
    inTurn(request, reply, async () => {
      const { api_key_id } = await keyService.find(userOf(request), request.params.id)
      return ok(await presented(db, api_key_id))
    }),
  )

  app.delete(
    path,
    { schema: described('Stops the resend: what it has not delivered yet stays as it was') },
    async (request, reply) =>
      inTurn(request, reply, async () => {
        const key = await keyService.usable(userOf(request), request.params.id)
        if (!key.webhook) throw failed('bad_request', 'the key has no webhook')
        const { others } = await resendStanding(db, key.api_key_id)
        const actor = await keys.find(key.api_key_id)
        const stopping = actor.changeWebhook({ kind: 'stop resend', waiting: others })
        await carriedOut(request, asOwner(stopping))
        return ok(await readBack(presented(db, key.api_key_id)))
      }),
  )
}
