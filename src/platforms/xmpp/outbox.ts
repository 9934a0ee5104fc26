/** Outgoing messages: each waits until the server has confirmed or refused it. */

import { type Element, xml } from '@xmpp/client'
import { limited } from '../../../actors/host/time.ts'
import { isImpatience, reconnecting } from '../kit/failures.ts'
import { SparseMap } from '../kit/recent-map.ts'
import { parseAddress } from './address.ts'
import type { Archive } from './archive.ts'
import { BrokenWrite, bounced, unknownOutcome } from './failures.ts'
import { ns } from './namespaces.ts'
import { ping, type Requests } from './requests.ts'
import type { Stream } from './stream.ts'

/** The proof that a message has arrived: the server's acknowledgement, or the copy that a room sends to all. */
type Proof = 'acknowledgement' | 'reflection'

interface Waiting {
  readonly to: string | undefined
  readonly proof: Proof
  readonly promise: Promise<void>
  written: boolean
  /** Sends it, once there is a connection. */
  readonly write: () => void
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

interface OutboxParts {
  readonly stream: Pick<Stream, 'sendWhenUp' | 'acknowledges'>
  readonly requests: Pick<Requests, 'ask'>
  readonly domain: string
  /** For how long a message waits for its acknowledgement. */
  readonly confirmMilliseconds: number
}

const REFUSED_WITHIN_MS = 2_000
const never = new AbortController().signal
/** The permit of this node counts for all that are written together: the next ones wait until the system has taken them. */
const MOST_TOGETHER = 50
/** Addresses that are remembered; then it begins anew. */
const MOST_REACHED = 1_000

export class Outbox {
  readonly #parts: OutboxParts
  readonly #waiting = new SparseMap<string, Waiting>()
  /** Addresses that have taken a message of this session. */
  readonly #reached = new SparseMap<string, true>()
  /** How to write those that are not written yet, in the order of the requests. */
  #line: (() => Promise<void>)[] = []
  #isWriting = false

  constructor(parts: OutboxParts) {
    this.#parts = parts
  }

  /** Resolves once the message has arrived, also after an interruption of the connection. */
  async post(message: Element, proof: Proof, signal: AbortSignal): Promise<void> {
    const id = message.attrs.id ?? ''
    const same = this.#waiting.get(id)
    if (same) return same.promise
    // A message that was found to have arrived must not be written when there is a connection again.
    await limited([signal], this.#parts.confirmMilliseconds, (limit, abort) =>
      this.#post(id, message, proof, limit).finally(abort),
    )
  }

  async #post(id: string, message: Element, proof: Proof, limit: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => reject(unknownOutcome('timeout', limit.reason))
    const begun = () => {
      waiting.written = true
      limit.addEventListener('abort', giveUp, { once: true })
      if (limit.aborted) giveUp()
    }
    const written = () => {
      begun()
      if (proof === 'acknowledgement' && !this.#parts.stream.acknowledges) {
        this.#askInstead(limit).then(resolve, reject)
      }
    }
    const unwritten = (cause: unknown) =>
      // Only an archive can tell what became of it.
      cause instanceof BrokenWrite ? begun() : reject(reconnecting(cause))
    const write = () =>
      this.#inLine(() => this.#parts.stream.sendWhenUp(message, limit).then(written, unwritten))
    const { to } = message.attrs
    const waiting: Waiting = { to, proof, promise, written: false, write, resolve, reject }
    this.#waiting.set(id, waiting)
    try {
      write()
      await promise
    } finally {
      limit.removeEventListener('abort', giveUp)
      this.#waiting.delete(id)
    }
  }

  #inLine(write: () => Promise<void>) {
    this.#line.push(write)
    if (!this.#isWriting) void this.#writeAll()
  }

  /** Those of one turn of the event loop go out together. Of the next ones none may come before one of them. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true
    await new Promise(setImmediate)
    // Each tells its own message what became of it.
    while (this.#line.length > 0) {
      await Promise.allSettled(this.#line.splice(0, MOST_TOGETHER).map((write) => write()))
    }
    this.#isWriting = false
  }

  /** Whether it is known of all messages what became of them. */
  get isIdle(): boolean {
    return this.#waiting.size === 0
  }

  /** Whether the fate of a message is still unknown. */
  isWaiting(id: string): boolean {
    return this.#waiting.has(id)
  }

  acknowledged(id: string) {
    const waiting = this.#waiting.get(id)
    if (waiting?.proof !== 'acknowledgement') return
    const { bare, resource } = parseAddress(waiting.to) ?? {}
    if (bare === undefined || (resource === undefined && this.#reached.has(bare))) {
      return waiting.resolve()
    }
    // The receiver may still be refused, and is before a later request is answered: by the room, of which a full address
    // means a private message; or by the server, where it is not known that there is such an address. ejabberd
    // acknowledges a message before it says that the address does not exist.
    const to = resource === undefined ? this.#parts.domain : bare
    const asked = { to, signal: never, milliseconds: REFUSED_WITHIN_MS }
    const settle = () => {
      if (this.#reached.size >= MOST_REACHED) this.#reached.clear()
      if (resource === undefined && this.#waiting.has(id)) this.#reached.set(bare, true)
      waiting.resolve()
    }
    this.#parts.requests.ask('get', xml('ping', ns.ping), asked).then(settle, settle)
  }

  /** It was seen in an archive, or came back from its room. */
  found(id: string) {
    this.#waiting.get(id)?.resolve()
  }

  /** The message came back; returns whether a caller still waited for it. Its id is known to all readers. */
  bounced(id: string, condition: string, from: string | undefined): boolean {
    const waiting = this.#waiting.get(id)
    if (!waiting || !mayRefuse(from, waiting.to)) return false
    waiting.reject(bounced(condition))
    return true
  }

  /** Messages that were written and not confirmed. */
  get open(): readonly (Pick<Waiting, 'to' | 'proof'> & { readonly id: string })[] {
    const written = [...this.#waiting].filter(([, waiting]) => waiting.written)
    return written.map(([id, { to, proof }]) => ({ id, to, proof }))
  }

  /** Messages of a lost stream that are not in the archive never reached the server. */
  repeat(open: Outbox['open']) {
    for (const { id } of open) this.#waiting.get(id)?.write()
  }

  /**
   * Sends those again that are not in the account's archive. What that leaves out may have arrived though it is not there.
   * Servers need not keep what is said to one occupant of a room, whose address has a resource.
   */
  async repeatMissing(
    messages: Outbox['open'],
    archive: Pick<Archive, 'policy'>,
    signal: AbortSignal,
  ): Promise<void> {
    const open = messages.filter(({ id }) => this.isWaiting(id))
    if (open.length === 0) return
    const keeps = await archive.policy(signal)
    const isLeftOut = ({ to = '' }: (typeof open)[number]) => {
      const address = parseAddress(to)
      return address?.resource !== undefined || keeps(address?.bare ?? to) === false
    }
    this.abandon(open.filter(isLeftOut))
    this.repeat(open.filter((message) => !isLeftOut(message)))
  }

  /** Without an archive the outcome stays unknown. */
  abandon(open: Outbox['open'], cause?: unknown) {
    for (const { id } of open) this.#waiting.get(id)?.reject(unknownOutcome('unavailable', cause))
  }

  /** A server handles stanzas in order: the answer to a later request, or its refusal, shows that it has the message. */
  async #askInstead(signal: AbortSignal): Promise<void> {
    try {
      await ping(this.#parts.requests, this.#parts.domain, signal)
    } catch (cause) {
      throw unknownOutcome(isImpatience(cause) ? 'timeout' : 'unavailable', cause)
    }
  }
}

/** Whether a bounce comes from the receiver or a server on the way. The account's own server may leave out its address. */
function mayRefuse(from: string | undefined, to: string | undefined): boolean {
  const sender = parseAddress(from)
  return !sender?.local || sender.bare === parseAddress(to)?.bare
}
