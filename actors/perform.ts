/** Carries out one operation: public ids to native ones, the network, and back to the bot API's JSON. */
import type { PerformOperation } from '../machines/credential-events.ts'
import type { CredentialContext } from '../machines/credential-setup.ts'
import { admits, type Happening } from '../machines/happening.ts'
import type { Operation, OperationResult } from '../machines/operation.ts'
import { failed, RequestFailed } from './errors.ts'
import type { Json, Session } from './platform.ts'
import type { CredentialFacts, Identities, UpdateLog } from './ports.ts'
import { within } from './time.ts'

interface Performing {
  readonly facts: CredentialFacts
  readonly identities: Identities
  readonly log: UpdateLog
  readonly timing: { readonly performTakes: number }
  readonly session: Session | undefined
  readonly context: CredentialContext
  onDefect(cause: unknown): void
}

const DONE_UNTOLD = 'the platform carried it out, but the result could not be stored'

const SENDS: readonly Operation['kind'][] = ['send', 'send_album', 'forward', 'copy']

const lateAnswer = ({ kind }: Operation): string =>
  SENDS.includes(kind)
    ? 'the platform did not answer in time; the message may have been sent'
    : 'the platform did not answer in time; it may have been done'

/** What only looks leaves nothing behind when its answer is late. */
const LOOKS: readonly Operation['kind'][] = [
  'resolve',
  'describe',
  'administrators',
  'count_members',
  'member',
  'profile_photos',
]

/** Rejects with `RequestFailed`; a time-out of something that may have been done says so. */
export async function perform(actor: Performing, request: PerformOperation): Promise<Json> {
  const { session, identities, facts } = actor
  const { credentialId } = facts
  if (!session)
    throw failed('unavailable', 'the credential is reconnecting', { retryAfterSeconds: 1 })
  const ask = (operation: Operation, requestId: string) =>
    within(actor.timing.performTakes, undefined, (signal) =>
      session.perform(operation, requestId, signal),
    ).catch((cause) => {
      throw timedOut(cause) && !LOOKS.includes(operation.kind)
        ? failed('timeout', lateAnswer(operation), { certain: false })
        : cause
    })

  const resolve = (name: string) => ask({ kind: 'resolve', name }, request.requestId)
  const operation = await identities.toNative(credentialId, request.operation, resolve)
  const result = await ask(operation, request.requestId)
  try {
    const json = await identities.present(credentialId, result)
    await noteOwn(actor, request, operation, result)
    return json
  } catch (cause) {
    // It is done on the network: whoever is told to try again would do it twice.
    actor.onDefect(cause)
    throw failed('timeout', DONE_UNTOLD, { certain: false })
  }
}

const timedOut = (cause: unknown) =>
  cause instanceof RequestFailed && cause.failure.code === 'timeout'

/** What was sent through the gateway is an update for the other keys, where the settings say so. */
async function noteOwn(
  { context, facts, log, onDefect }: Performing,
  request: PerformOperation,
  operation: Operation,
  result: OperationResult,
): Promise<void> {
  const happenings = ownHappenings(request.requestId, operation, result).filter((happening) =>
    admits(context.settings, happening),
  )
  if (happenings.length === 0) return
  const { credentialId, epoch } = facts
  await log
    .append({
      credentialId,
      epoch,
      happenings,
      ...(request.apiKeyId !== undefined && { apiKeyId: request.apiKeyId }),
      ...(request.traceId !== undefined && { traceId: request.traceId }),
    })
    .catch(onDefect)
}

function ownHappenings(
  requestId: string,
  operation: Operation,
  result: OperationResult,
): readonly Happening[] {
  const messages = result.kind === 'message' ? [result.message] : messagesOf(result)
  const isChange = operation.kind.startsWith('edit')
  return messages.map((message, place) => ({
    sourceKey: place === 0 ? `own:${requestId}` : `own:${requestId}:${place}`,
    direction: 'own',
    at: message.editedAt ?? message.at,
    kind: isChange ? 'edited' : 'message',
    message,
  }))
}

const messagesOf = (result: OperationResult) => (result.kind === 'messages' ? result.messages : [])
