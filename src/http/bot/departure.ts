/** Tells a call that waits that its client went away; an `AbortController` for each would weigh several times as much. */
import type { ServerResponse } from 'node:http'
import type { Leaving } from '../../../actors/activation.ts'

export class Departure implements Leaving {
  #aborted: boolean
  #listeners: readonly (() => void)[] = []

  constructor(response: ServerResponse) {
    this.#aborted = response.destroyed
    response.on('close', () => {
      if (response.writableFinished) return
      this.#aborted = true
      for (const listener of this.#listeners) listener()
    })
  }

  get aborted(): boolean {
    return this.#aborted
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener]
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((known) => known !== listener)
  }
}
