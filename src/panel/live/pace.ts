/** Does something soon, but not again before a while has passed. */
export function atMostEvery(
  milliseconds: number,
  signal: AbortSignal,
  work: () => void,
): () => void {
  let last = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  signal.addEventListener('abort', () => clearTimeout(timer))
  return () => {
    if (timer !== undefined || signal.aborted) return
    timer = setTimeout(
      () => {
        timer = undefined
        last = performance.now()
        work()
      },
      Math.max(0, last + milliseconds - performance.now()),
    )
  }
}
