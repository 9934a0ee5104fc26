/** Carries out one operation: public ids to native ones, files that move meanwhile, and back to the bot API's JSON. */
import type { CredentialEvent, PerformOperation } from '../../machines/credential/events.ts'
import type { CredentialContext } from '../../machines/credential/setup.ts'
import { failed, OwnershipLost, RequestFailed } from '../../machines/model/failure.ts'
import { admits, endKey, type Happening } from '../../machines/model/happening.ts'
import type { Operation, OperationKind, OperationResult } from '../../machines/model/operation.ts'
import { type Json, type Reply, refused } from '../../machines/model/protocol.ts'
import { within } from '../host/time.ts'
import { LONGEST_TRANSFER_MS, type Platform, type Session } from '../ports/platform.ts'
import type {
  Clock,
  CredentialFacts,
  CredentialStore,
  Identities,
  Owned,
  Storage,
  UpdateLog,
} from '../ports/ports.ts'

/** Watches stored blobs on their way to a network, so that a call can wait for as long as their bytes move. */
const watchers = new Map<string, Set<() => void>>()

/** Calls `moved` whenever bytes of one of these blobs were taken. Returns how to stop watching. */
export function watchBlobs(blobs: readonly string[], moved: () => void): () => void {
  for (const blob of blobs) watchers.set(blob, (watchers.get(blob) ?? new Set()).add(moved))
  return () => {
    for (const blob of blobs) {
      const watching = watchers.get(blob)
      watching?.delete(moved)
      if (watching?.size === 0) watchers.delete(blob)
    }
  }
}

export const isWatched = (blob: string): boolean => watchers.has(blob)

export function blobMoved(blob: string): void {
  for (const moved of watchers.get(blob) ?? []) moved()
}

/** The blobs that an operation is to bring to the network, wherever it names them. */
export function blobsIn(value: unknown): string[] {
  const found: string[] = []
  addBlobs(value, found)
  return found
}

/** Makes no lists on its way: each call comes along here. */
function addBlobs(value: unknown, found: string[]): void {
  if (typeof value !== 'object' || value === null) return
  for (const name in value) {
    const inner = (value as Readonly<Record<string, unknown>>)[name]
    if (name === 'blob' && typeof inner === 'string') found.push(inner)
    else addBlobs(inner, found)
  }
}

/** The actor of the credential, as an operation needs it. */
interface Performing {
  readonly facts: CredentialFacts
  readonly session: Session | undefined
  readonly context: CredentialContext
  /** Without a copy, because a copy for each call would cost measurable time. */
  readonly world: {
    readonly identities: Identities
    readonly updates: Pick<UpdateLog, 'append'>
    readonly storage: Storage
    readonly own: OwnUpdates
    readonly store: Pick<CredentialStore, 'account' | 'saveIdentity'>
    readonly clock: Pick<Clock, 'now'>
    readonly timing: { readonly performTakes: number }
    /** Another node has claimed it. */
    lost(owned: Owned): void
  }
  /** Throws once this node may not act for the credential any more. */
  assertOwner(): void
  onDefect(cause: unknown): void
}

const RESULT_NOT_STORED = 'the platform carried it out, but the result could not be stored'

const SENDS: readonly OperationKind[] = ['send', 'send_album', 'forward', 'copy']

const maybeDone = (isSending: boolean): string =>
  isSending ? 'the message may have been sent' : 'it may have been done'

export const NO_ANSWER = 'the platform did not answer in time'

/** The failure of something that may have been done; `what` says why nobody knows. */
export function unconfirmed(what: string, isSending: boolean, cause?: unknown): RequestFailed {
  const reason = isSending ? 'sent_unconfirmed' : 'done_unconfirmed'
  const description = `${what}; ${maybeDone(isSending)}`
  return failed('timeout', description, { reason, certain: false }, { cause })
}

/** The failure while there is no session. */
export const reconnecting = (): RequestFailed =>
  failed('unavailable', 'the credential is reconnecting', {
    reason: 'reconnecting',
    retryAfterSeconds: 1,
  })

/** Operations that only read: a late answer leaves no trace on the network. */
const READS: readonly OperationKind[] = [
  'resolve',
  'describe',
  'administrators',
  'count_members',
  'member',
  'profile_photos',
  'profile_audios',
  'sticker_set',
  'star_balance',
  'star_transactions',
  'scores',
  'custom_emoji',
  'topic_icons',
  'personal_messages',
  'managed_bot_access',
]

const NODE_ENDED = 'the node that had the call has ended'

/** Throws where the first try of this operation may have been carried out, and a second one would do it again. */
export function assertRepeatable(kind: OperationKind, { sends }: Pick<Platform, 'sends'>): void {
  const isSending = SENDS.includes(kind)
  if (READS.includes(kind) || (isSending && sends !== 'blind')) return
  throw unconfirmed(NODE_ENDED, isSending)
}

/** The failure of a second try. One that was not made leaves open what became of the first. */
export function repeatFailed(kind: OperationKind, cause: unknown): unknown {
  if (!(cause instanceof RequestFailed) || cause instanceof OwnershipLost) return cause
  const wasMade = cause.failure.code !== 'unavailable' && cause.failure.code !== 'timeout'
  if (wasMade || READS.includes(kind)) return cause
  return unconfirmed(NODE_ENDED, SENDS.includes(kind), cause)
}

/** The reply to an operation whose actor ends first: not `unavailable`, since a second try might do it twice. */
export function cutShort(event: CredentialEvent): Reply | undefined {
  if (event.type !== 'operation.perform' || READS.includes(event.operation.kind)) return undefined
  const maybe = maybeDone(SENDS.includes(event.operation.kind))
  const description = `the credential stopped before the platform answered; ${maybe}`
  return refused(event, { code: 'timeout', description, certain: false })
}

/** The failure of an operation. If it may have been carried out, it is one that bots do not repeat by themselves. */
function failureOf(kind: OperationKind, cause: unknown): unknown {
  const isSending = SENDS.includes(kind)
  const onlyReads = READS.includes(kind)
  // The network may have been asked before: no other node, and no caller, does it again by itself.
  if (cause instanceof OwnershipLost && !onlyReads) {
    return unconfirmed('the account is at another node by now', isSending, cause)
  }
  const isLate = timedOut(cause)
  const isCut =
    cause instanceof RequestFailed &&
    ['unavailable', 'rate_limited'].includes(cause.failure.code) &&
    cause.failure.certain === false
  if (!isLate && !isCut) return cause
  if (!onlyReads) return unconfirmed(NO_ANSWER, isSending, cause)
  // It only read, perhaps the chat of a message: nothing was sent.
  return isCut ? cause : failed('timeout', cause.failure.description, { reason: 'no_answer' })
}

/** Throws the failure of the lookup before an operation: it is certain, because the network was not asked yet. */
function throwCertain(cause: unknown): never {
  if (!(cause instanceof RequestFailed) || cause instanceof OwnershipLost) throw cause
  const { certain: _, ...failure } = cause.failure
  throw cause.failure.code === 'unavailable' ? new RequestFailed(failure, { cause }) : cause
}

/** Rejects with `RequestFailed`; a time-out of something that may have been done says so. */
export async function perform(actor: Performing, request: PerformOperation): Promise<Json> {
  const { session, facts, world } = actor
  const { identities, timing } = world
  const { credentialId } = facts
  if (!session) throw reconnecting()
  const ask = async (operation: Operation, requestId: string) => {
    // The lookup before may have taken long.
    actor.assertOwner()
    return inTime(operation, timing.performTakes, (signal) =>
      session.perform(operation, requestId, signal, request.isRepeated),
    ).catch((cause) => {
      throw failureOf(operation.kind, cause)
    })
  }
  const { callId = request.requestId } = request
  const resolve = (name: string) => ask({ kind: 'resolve', name }, callId)
  const operation = await identities
    .toNative(credentialId, request.operation, resolve)
    .catch(throwCertain)
  const result = await ask(operation, callId)
  const note = () => noteOwn(actor, { ...request, callId }, operation, result)
  try {
    const json = await identities
      .present(facts, result, SENDS.includes(operation.kind))
      .catch((cause) => {
        // The other keys are told by the log, which gives the numbers of the message itself.
        if (!(cause instanceof OwnershipLost)) note().catch(actor.onDefect)
        throw cause
      })
    await note()
    if (operation.kind === 'set_name') await noteName(actor, operation)
    return json
  } catch (cause) {
    // The network has executed it, so a second try would do it twice.
    if (cause instanceof OwnershipLost) world.lost(facts)
    else actor.onDefect(cause)
    throw failed('timeout', RESULT_NOT_STORED, { certain: false })
  }
}

/** Under the time limit of an operation, which a large file may exceed for as long as its bytes move. */
function inTime(
  operation: Operation,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<OperationResult>,
): Promise<OperationResult> {
  const blobs = blobsIn(operation)
  if (blobs.length === 0) return within(milliseconds, undefined, work)
  const watched = async (signal: AbortSignal, goesOn: () => void) => {
    const stopWatching = watchBlobs(blobs, goesOn)
    try {
      return await work(signal)
    } finally {
      stopWatching()
    }
  }
  return within(milliseconds, undefined, watched, Math.max(milliseconds, LONGEST_TRANSFER_MS))
}

const timedOut = (cause: unknown): cause is RequestFailed =>
  cause instanceof RequestFailed && cause.failure.code === 'timeout'

/** Stores the new name, so that getMe shows it now and not after the next session. */
async function noteName(
  { world: { store }, facts }: Performing,
  { firstName, lastName }: Extract<Operation, { kind: 'set_name' }>,
): Promise<void> {
  const { lastName: _, ...identity } = (await store.account(facts.credentialId)).identity
  const named = { ...identity, firstName, ...(lastName !== undefined && { lastName }) }
  await store.saveIdentity(facts, named)
}

type OwnBatch = Parameters<UpdateLog['append']>[0]

const STORE_AGAIN_MS = 1_000
const STORE_TRIES = 30
/** A full disk may let a node live on for hours. */
const MOST_WAITING = 5_000

type Storing = Pick<Performing['world'], 'updates' | 'storage' | 'lost'> &
  Pick<Performing, 'onDefect'>

/**
 * What accounts did themselves, on its way into the log. The network has carried it out, so the caller gets the answer in any
 * case, and does not wait longer than for the first try. Nothing else tells the other keys, so more tries follow while the database is away.
 */
export class OwnUpdates {
  /** By account: what was done later is stored after what waits already. */
  readonly #lasts = new Map<number, Promise<void>>()
  #waiting = 0

  async store(storing: Storing, batch: OwnBatch): Promise<void> {
    const { credentialId } = batch
    const { onDefect } = storing
    let cause: unknown
    if (!this.#lasts.has(credentialId)) {
      cause = await append(storing, batch)
      if (cause !== undefined) onDefect(cause)
      if (!isAway(cause)) return
    }
    if (this.#waiting >= MOST_WAITING) {
      return onDefect(new Error('too much waits for the database: the other keys are not told'))
    }
    this.#waiting++
    const before = this.#lasts.get(credentialId)
    const last = (before ? before.then(() => append(storing, batch)) : Promise.resolve(cause))
      .then((cause) => goOn(storing, batch, cause))
      .catch(onDefect)
      .finally(() => {
        this.#waiting--
        if (this.#lasts.get(credentialId) === last) this.#lasts.delete(credentialId)
      })
    this.#lasts.set(credentialId, last)
  }
}

async function goOn(storing: Storing, batch: OwnBatch, failure: unknown): Promise<void> {
  let cause = failure
  for (let tries = 2; isAway(cause) && tries <= STORE_TRIES; tries++) {
    await storing.storage.recovered(STORE_AGAIN_MS)
    cause = await append(storing, batch)
  }
  if (cause !== undefined) storing.onDefect(cause)
}

/** Resolves with why it was not stored. */
async function append({ updates, lost, onDefect }: Storing, batch: OwnBatch): Promise<unknown> {
  // The end of the actor would cut the answer short.
  const leave = () => {
    new Promise(setImmediate).then(() => lost(batch)).catch(onDefect)
  }
  try {
    if (!(await updates.append(batch)).stored) leave()
  } catch (cause) {
    if (!(cause instanceof OwnershipLost)) return cause
    leave()
  }
  return undefined
}

const isAway = (cause: unknown): boolean =>
  cause instanceof RequestFailed && cause.failure.reason?.startsWith('database_') === true

/** Logs an operation as an update for the other keys, if the settings include the account's own updates. */
async function noteOwn(
  actor: Performing,
  request: PerformOperation & { readonly callId: string },
  operation: Operation,
  result: OperationResult,
): Promise<void> {
  const { context, facts, world, onDefect } = actor
  const at = Math.floor(world.clock.now() / 1000)
  const happenings = ownHappenings(request.callId, operation, result, at).filter((happening) =>
    admits(context.settings, happening),
  )
  if (happenings.length === 0) return
  const { credentialId, epoch } = facts
  const { updates, storage, own } = world
  const storing = { updates, storage, lost: (owned: Owned) => world.lost(owned), onDefect }
  await own.store(storing, {
    credentialId,
    epoch,
    happenings,
    ...(request.apiKeyId !== undefined && { apiKeyId: request.apiKeyId }),
    ...(request.traceId !== undefined && { traceId: request.traceId }),
  })
}

function ownHappenings(
  callId: string,
  operation: Operation,
  result: OperationResult,
  at: number,
): readonly Happening[] {
  const common = { sourceKey: `own:${callId}`, direction: 'own', at } as const
  if (operation.kind === 'delete') {
    const { chat, message } = operation
    const surface = result.kind === 'done' && result.surface && { surface: result.surface }
    return [{ ...common, kind: 'deleted', chat, messages: [message], ...surface }]
  }
  if (result.kind === 'poll') {
    const { poll } = result
    return [{ ...common, sourceKey: endKey(poll) ?? common.sourceKey, kind: 'poll', poll }]
  }
  const messages = result.kind === 'message' ? [result.message] : messagesOf(result)
  const isChange = operation.kind.startsWith('edit')
  return messages.map((message, place) => ({
    ...common,
    ...(place > 0 && { sourceKey: `own:${callId}:${place}` }),
    at: message.editedAt ?? message.at,
    kind: isChange ? 'edited' : 'message',
    message,
  }))
}

const messagesOf = (result: OperationResult) => (result.kind === 'messages' ? result.messages : [])
