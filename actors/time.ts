/** Time limits and jitter. */
import { failed } from './errors.ts'

/** Spreads a delay by ±20 %, so that what failed together does not come back together. */
export const jittered = (milliseconds: number): number => milliseconds * (0.8 + 0.4 * Math.random())

/**
 * Runs `work` under a time limit. The limit holds even if `work` ignores its signal: it then ends unobserved, and the
 * caller gets a `timeout` failure whose outcome is not certain.
 */
export async function within<Result>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limit = AbortSignal.timeout(milliseconds)
  const signal = outer ? AbortSignal.any([outer, limit]) : limit
  signal.throwIfAborted()
  const { promise: over, reject } = Promise.withResolvers<never>()
  const expire = () => reject(failed('timeout', 'no answer in time', { certain: false }))
  signal.addEventListener('abort', expire, { once: true })
  try {
    return await Promise.race([work(signal), over])
  } finally {
    signal.removeEventListener('abort', expire)
  }
}
