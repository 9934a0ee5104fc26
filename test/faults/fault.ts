/** Something that goes wrong around the service, for a while. */
import type { Stage } from '../kill/stage.ts'

export interface Fault {
  readonly name: string
  /** Why it cannot be tried on this machine, if so. */
  readonly missing?: string | undefined
  /** Resolves once it holds, with how to end it. */
  begin(stage: Stage): Promise<() => Promise<void>>
}

/** Does something again and again until it is ended; what fails meanwhile is part of the trouble. */
export function again(everyMs: number, work: () => Promise<unknown>): () => Promise<void> {
  const stopping = new AbortController()
  const repeat = async () => {
    while (!stopping.signal.aborted) {
      await work().catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }
  const running = repeat()
  return async () => {
    stopping.abort()
    await running
  }
}
