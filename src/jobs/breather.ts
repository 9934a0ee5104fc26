/** Lets a worker catch its breath after an error: BullMQ asks a database that is going down again at once, for ever. */
export interface Pausable {
  pause(doNotWaitActive: boolean): Promise<void>
  resume(): void
}

const BREATH_MS = 1_000

/** Returns what to call at every error of the worker; jobs at hand go on meanwhile. */
export function breather(worker: Pausable, onFailure: (cause: unknown) => void): () => void {
  let isPausing = false
  return () => {
    if (isPausing) return
    isPausing = true
    worker.pause(true).catch(onFailure)
    setTimeout(() => {
      isPausing = false
      worker.resume()
    }, BREATH_MS).unref()
  }
}
