/** Tells a call that waits that its client went away; an `AbortController` for each would weigh several times as much. */
import type { FastifyReply } from 'fastify'
import type { Leaving } from '../../../actors/host/callers.ts'

export class Departure implements Leaving {
  readonly #reply: FastifyReply

  constructor(reply: FastifyReply) {
    this.#reply = reply
  }

  get aborted(): boolean {
    return this.#reply.raw.destroyed
  }

  /** For one at a time. It is removed before the answer is sent, and so hears nothing of an ordinary end. */
  addEventListener(_: 'abort', listener: () => void): void {
    this.#reply.request.left = listener
  }

  removeEventListener(): void {
    this.#reply.request.left = undefined
  }
}
