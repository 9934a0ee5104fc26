/** Hands credentials of this node to the others, some at a time, so that their callers only wait. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger, Owned } from '../../actors/ports/ports.ts'
import type { Metrics } from '../observability/metrics.ts'

const AT_ONCE = 100
/** A call that takes longer, such as an upload, keeps its account here for a while. */
const CALLS_TAKE_MS = 3_000
const LONG_CALLS_TAKE_MS = 10_000
const POLLS_END_EVERY_MS = 250
/** Sessions that do not close in time are cut by the fence. */
const CLOSING_TAKES_MS = 3_000

export interface Handover {
  owned(): Iterable<Owned>
  /** From now on calls for these wait until they have another owner. */
  park(credentialIds: readonly number[]): void
  unpark(credentialIds: readonly number[]): void
  /** Their held polls are answered with nothing. */
  endPolls(credentialIds: ReadonlySet<number>): void
  /** Resolves once no call for these is under way any more. */
  idle(credentialIds: readonly number[]): Promise<void>
  /** Ends their sessions, deliveries and polls; resolves once all that is buffered is stored. */
  end(credentials: readonly Owned[]): Promise<void>
  /**
   * Releases them; resolves with the accounts that still belonged to this node. `waits`: also for those whose rows somebody
   * has locked.
   */
  release(credentials: readonly Owned[], waits: boolean): Promise<readonly number[]>
  /** Tells the other nodes that there is something to claim. */
  announce(): void
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'handedOverWithin'>
}

/** Resolves with the number of credentials that were handed over. The others are claimed once this node has left. */
export async function handOver(
  parts: Handover,
  credentials: readonly Owned[],
  signal: AbortSignal,
): Promise<number> {
  let given = 0
  const late: Owned[] = []
  for (const batch of batchesOf(credentials)) {
    if (signal.aborted) return given
    const since = performance.now()
    const { idle, busy } = await settled(parts, batch, CALLS_TAKE_MS)
    late.push(...busy)
    given += await give(parts, idle, since)
  }
  for (const batch of batchesOf(late)) {
    if (signal.aborted) return given
    const since = performance.now()
    const { idle, busy } = await settled(parts, batch, LONG_CALLS_TAKE_MS)
    given += await give(parts, [...idle, ...busy], since)
  }
  return given
}

/** Gives away only those whose calls end soon; resolves with their number. */
export async function handOverIdle(
  parts: Handover,
  credentials: readonly Owned[],
): Promise<number> {
  const since = performance.now()
  const { idle } = await settled(parts, credentials, CALLS_TAKE_MS)
  return give(parts, idle, since)
}

/** The credentials without a call in progress after this time. The others go on taking calls. */
async function settled(
  { park, unpark, endPolls, idle }: Handover,
  batch: readonly Owned[],
  milliseconds: number,
): Promise<{ readonly idle: Owned[]; readonly busy: Owned[] }> {
  const ids = new Set(idsOf(batch))
  park([...ids])
  endPolls(ids)
  // One that was on its way here is held after the others have ended.
  const again = setInterval(() => endPolls(ids), POLLS_END_EVERY_MS)
  const over = new AbortController()
  const late = pause(milliseconds, undefined, { signal: over.signal }).catch(() => undefined)
  const isIdle = new Set<number>()
  const each = batch.map(async ({ credentialId }) => {
    await idle([credentialId])
    isIdle.add(credentialId)
  })
  await Promise.race([Promise.all(each), late])
  over.abort()
  clearInterval(again)
  const busy = batch.filter(({ credentialId }) => !isIdle.has(credentialId))
  unpark(idsOf(busy))
  return { idle: batch.filter(({ credentialId }) => isIdle.has(credentialId)), busy }
}

/** `since`: when calls for them began to wait. */
async function give(parts: Handover, batch: readonly Owned[], since: number): Promise<number> {
  if (batch.length === 0) return 0
  const { park, unpark, end, release, announce, logger, metrics } = parts
  const ids = idsOf(batch)
  const left = new Set(ids)
  const free = async (waits: boolean) => {
    const some = batch.filter(({ credentialId }) => left.has(credentialId))
    if (some.length === 0) return
    const released = await release(some, waits)
    if (released.length > 0) announce()
    for (const id of released) left.delete(id)
    unpark(released)
  }
  park(ids)
  const ended = end(batch).catch((err) => {
    // They run here no more, so nobody would if they were kept.
    logger.warn({ err, credentials: ids.length }, 'credentials are given away with writes left')
  })
  try {
    await Promise.race([ended, pause(CLOSING_TAKES_MS)])
    await free(false)
    // Calls for the others have gone on meanwhile.
    await free(true)
    metrics.handedOverWithin((performance.now() - since) / 1000)
  } catch (err) {
    logger.warn({ err, credentials: left.size }, 'credentials could not be handed over')
  } finally {
    unpark([...left])
  }
  return ids.length - left.size
}

const idsOf = (batch: readonly Owned[]) => batch.map(({ credentialId }) => credentialId)

function* batchesOf(all: readonly Owned[]): IterableIterator<readonly Owned[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE)
}
