/** Gives up waiting after a time, without leaving a timer behind. */
import { setTimeout as delay } from 'node:timers/promises'

export async function within<Result>(
  ms: number,
  work: Promise<Result>,
  otherwise: Result,
): Promise<Result> {
  const done = new AbortController()
  try {
    return await Promise.race([work, delay(ms, otherwise, { signal: done.signal })])
  } finally {
    done.abort()
  }
}
