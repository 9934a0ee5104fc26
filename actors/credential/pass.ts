/** Passes a call on to a network that speaks the bot API itself, and logs for the other keys what it did. */
import { failed, RequestFailed, settle } from '../../machines/model/failure.ts'
import { admits, type Happening, type ReceiveSettings } from '../../machines/model/happening.ts'
import type { Passed, Passing } from '../../machines/model/operation-passing.ts'
import { within } from '../host/time.ts'
import { LONGEST_TRANSFER_MS, type Session } from '../ports/platform.ts'
import type { Clock, CredentialFacts, Owned, Storage, UpdateLog } from '../ports/ports.ts'
import { NO_ANSWER, type OwnUpdates, reconnecting, unconfirmed } from './perform.ts'

export interface PassCall {
  readonly call: Passing
  readonly requestId: string
  readonly apiKeyId: number
  readonly traceId: string
}

interface PassingActor {
  readonly facts: CredentialFacts
  readonly session: Session | undefined
  readonly settings: ReceiveSettings
  /** Without a copy, because a copy for each call would cost measurable time. */
  readonly world: {
    readonly updates: Pick<UpdateLog, 'append'>
    readonly storage: Storage
    readonly own: OwnUpdates
    readonly clock: Pick<Clock, 'now'>
    readonly timing: { readonly performTakes: number }
    lost(owned: Owned): void
  }
  /** Throws once this node may not act for the credential any more. */
  assertOwner(): void
  onDefect(cause: unknown): void
}

/** Rejects with `RequestFailed`. */
export async function pass(actor: PassingActor, request: PassCall): Promise<Passed> {
  const outcome = await settle(() => ask(actor, request), actor.onDefect)
  if (outcome.ok) return outcome.result
  throw new RequestFailed(outcome.failure)
}

async function ask(actor: PassingActor, request: PassCall): Promise<Passed> {
  const { session, world } = actor
  const { timing } = world
  const { call, requestId } = request
  if (!session) throw reconnecting()
  actor.assertOwner()
  const work = (signal: AbortSignal, goesOn: () => void) =>
    session.perform(moving(call, goesOn), requestId, signal)
  const longest = Math.max(timing.performTakes, LONGEST_TRANSFER_MS)
  const answer = await within(timing.performTakes, undefined, work, longest).catch((cause) => {
    const isLate = cause instanceof RequestFailed && cause.failure.code === 'timeout'
    throw isLate ? late(call.method) : cause
  })
  if (answer.kind !== 'passed') throw new Error('the session did not pass the call on')
  if (!answer.failure && actor.settings.includeSelfUpdates) await noteOwn(actor, request, answer)
  return answer
}

/** The limit of time counts from the last piece of a file that was taken. */
function moving(call: Passing, goesOn: () => void): Passing {
  const { body } = call
  if (!body || !(Symbol.asyncIterator in body.bytes)) return call
  const { bytes } = body
  async function* pieces() {
    for await (const piece of bytes as AsyncIterable<Uint8Array>) {
      goesOn()
      yield piece
    }
  }
  return { ...call, body: { ...body, bytes: pieces() } }
}

function late(method: string): RequestFailed {
  if (/^get/i.test(method)) return failed('timeout', NO_ANSWER, { reason: 'no_answer' })
  return unconfirmed(NO_ANSWER, /^(send|forward|copy)/i.test(method))
}

async function noteOwn(
  { facts, settings, world, onDefect }: PassingActor,
  { call, requestId, apiKeyId, traceId }: PassCall,
  answer: Passed,
): Promise<void> {
  const { deletes } = call
  const { clock } = world
  const deleted: Happening[] = deletes
    ? [
        {
          kind: 'deleted',
          sourceKey: `own:${requestId}`,
          direction: 'own',
          at: Math.floor(clock.now() / 1000),
          chat: `${deletes.chat}`,
          messages: deletes.messages.map(String),
        },
      ]
    : []
  const happenings = [...answer.own(requestId), ...deleted].filter((one) => admits(settings, one))
  if (happenings.length === 0) return
  const { credentialId, epoch } = facts
  const batch = { credentialId, epoch, happenings, apiKeyId, traceId }
  const { updates, storage, own } = world
  await own.store({ updates, storage, lost: (owned) => world.lost(owned), onDefect }, batch)
}
