/** Costly work on files: users take turns, and who asks for more than may wait is told to come again. */
import { failed } from '../../machines/model/failure.ts'
import type { FairSemaphore } from '../fair-semaphore.ts'

/** Who asks, and until when it is wanted. */
export interface Asker {
  readonly userId: number
  readonly signal: AbortSignal
}

export const tooMany = () =>
  failed('unavailable', 'too many files are being worked on', { retryAfterSeconds: 5 })

/** Rejects with `RequestFailed` when too many wait, and with the signal's reason once it aborts. */
export async function inTurn<Result>(
  semaphore: FairSemaphore,
  { userId, signal }: Asker,
  work: () => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  if (semaphore.isFull(userId)) throw tooMany()
  const waiting = semaphore.take(userId, signal)
  if (waiting && !(await waiting)) throw signal.reason
  try {
    return await work()
  } finally {
    semaphore.release(userId)
  }
}
