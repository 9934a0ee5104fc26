/** What a link flow came to: stored before it is told, and tried again by whoever asks next. */

import type { LinkState } from '../../machines/link/events.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import type { LinkReason } from '../../machines/model/reason.ts'
import type { LinkStore } from './actor.ts'

const unstored: Failure = {
  code: 'unavailable',
  description: 'what the link session came to could not be stored',
  retryAfterSeconds: 1,
}

export class LinkEnding {
  readonly #store: LinkStore
  readonly #sessionId: string
  readonly #onDefect: (cause: unknown) => void
  #unsaved: (() => Promise<void>) | undefined
  #saving: Promise<void> = Promise.resolve()

  constructor(store: LinkStore, sessionId: string, onDefect: (cause: unknown) => void) {
    this.#store = store
    this.#sessionId = sessionId
    this.#onDefect = onDefect
  }

  reach(state: LinkState, attemptsLeft: number, reason: LinkReason | undefined): void {
    this.#unsaved = () => this.#store.saveEnd(this.#sessionId, state, attemptsLeft, reason)
    this.#saveNext()
  }

  /** Resolves once it is stored, or with why it is not. */
  async stored(): Promise<Failure | undefined> {
    await this.#saving
    if (this.#unsaved) await this.#saveNext()
    return this.#unsaved && unstored
  }

  #saveNext(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save())
    return this.#saving
  }

  async #save(): Promise<void> {
    const save = this.#unsaved
    if (!save) return
    try {
      await save()
      if (this.#unsaved === save) this.#unsaved = undefined
    } catch (cause) {
      this.#onDefect(cause)
    }
  }
}
