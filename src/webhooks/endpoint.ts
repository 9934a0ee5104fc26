/** One key's endpoint: an attempt waits for its place, is signed, sent, and may bring a call back. */
import type { Attempt, Delivery, WebhookEndpoint, WebhookKey } from '../../actors/ports/webhooks.ts'
import type { WebhookTarget } from '../../machines/webhook/terms.ts'
import type { Log } from '../database/log.ts'
import type { Connections } from './connections.ts'
import type { Reply } from './exchange.ts'
import { TIMED_OUT } from './failure-text.ts'
import { type CallBack, callIn } from './reply-call.ts'
import { type SigningSecrets, secretsInForce } from './secrets.ts'
import { Sender, type SenderOptions } from './sender.ts'
import { signatures } from './signature.ts'

export interface EndpointParts {
  readonly secrets: SigningSecrets
  readonly logger: Log
  readonly connections: Connections
  /** Makes a call that an answer carried. */
  call(apiKeyId: number, call: CallBack, traceId: string): Promise<unknown>
}

const nowhere: Attempt = {
  ok: false,
  status: undefined,
  error: TIMED_OUT,
  retryAfterMs: undefined,
  durationMs: 0,
}

export class Endpoint implements WebhookEndpoint {
  readonly #apiKeyId: number
  readonly #userId: number
  readonly #sender: Sender
  readonly #parts: EndpointParts

  constructor(
    { apiKeyId, userId }: WebhookKey,
    target: WebhookTarget,
    sender: SenderOptions,
    parts: EndpointParts,
  ) {
    this.#apiKeyId = apiKeyId
    this.#userId = userId
    this.#sender = new Sender(target, sender)
    this.#parts = parts
  }

  async deliver(
    { updateId, body, isProbe = false }: Delivery,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const { secrets, connections } = this.#parts
    const known = secrets.known(this.#apiKeyId) ?? (await secrets.load(this.#apiKeyId))
    const places = connections.for(isProbe)
    const waiting = places.take(this.#userId, signal)
    // What waited here has not used any of its time.
    if (waiting && !(await waiting)) return nowhere
    try {
      const now = Date.now()
      const began = performance.now()
      // The same for every attempt, so that a receiver can tell what it has seen.
      const id = `${this.#apiKeyId}-${updateId}`
      const timestamp = Math.floor(now / 1000)
      const headers = ['webhook-id', id, 'webhook-timestamp', `${timestamp}`]
      const inForce = secretsInForce(known.found, now)
      if (inForce.length > 0) {
        headers.push('webhook-signature', signatures({ id, timestamp, body }, inForce))
      }
      const sent = await this.#sender.send(body, headers, signal)
      if (sent.reply) void this.#carryOut(sent.reply, id)
      const { status, error, retryAfterMs } = sent
      const durationMs = performance.now() - began
      return { ok: error === undefined, status, error, retryAfterMs, durationMs }
    } finally {
      places.release(this.#userId)
    }
  }

  get address(): string | undefined {
    return this.#sender.address
  }

  close(): void {
    this.#sender.close()
  }

  /** Its outcome is nobody's business: the receiver has gone. */
  async #carryOut(reply: Reply, traceId: string): Promise<void> {
    const apiKeyId = this.#apiKeyId
    const call = await callIn(reply)
    if (!call) return
    await this.#parts.call(apiKeyId, call, traceId).catch((err) => {
      this.#parts.logger.warn({ err, apiKeyId }, 'a call in the answer to a webhook failed')
    })
  }
}
