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

const ACTS: readonly Operation['kind'][] = ['send', 'edit', 'forward', 'copy', 'delete']

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
      throw timedOut(cause) && ACTS.includes(operation.kind)
        ? failed('timeout', 'the platform did not answer in time; the message may have been sent', {
            certain: false,
          })
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
  if (result.kind !== 'message') return
  const happening: Happening = {
    sourceKey: `own:${request.requestId}`,
    direction: 'own',
    at: result.message.editedAt ?? result.message.at,
    kind: operation.kind === 'edit' ? 'edited' : 'message',
    message: result.message,
  }
  if (!admits(context.settings, happening)) return
  const { credentialId, epoch } = facts
  await log
    .append({
      credentialId,
      epoch,
      happenings: [happening],
      ...(request.apiKeyId !== undefined && { apiKeyId: request.apiKeyId }),
      ...(request.traceId !== undefined && { traceId: request.traceId }),
    })
    .catch(onDefect)
}
