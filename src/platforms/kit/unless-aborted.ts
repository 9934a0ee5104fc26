/** Stops waiting when a signal aborts, even if the awaited work ignores the signal. */

/** Settles as `work` does, or rejects with the signal's reason. Work that is given up ends unobserved. */
export async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(signal.reason)
  if (signal.aborted) giveUp()
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
    work.catch(() => undefined)
  }
}
