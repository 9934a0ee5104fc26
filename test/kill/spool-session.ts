/** One account of the spool, connected: reports what it is handed and acknowledges what was stored. */
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { LinkedAccount, Session, SessionReport } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { Operation, OperationResult } from '../../machines/model/operation.ts'
import {
  byLine,
  type FromPlatform,
  type FromSpool,
  type SpoolEvent,
  textOf,
} from './spool-protocol.ts'

export interface SpoolSessionOptions {
  readonly port: number
  /** The defect that the test must notice: events are acknowledged before they are stored. */
  readonly acknowledgesEarly: boolean
}

/** Long enough that every kill finds more unstored than the spool hands over again, on a busy machine too. */
const EARLY_MS = 1_000

export class SpoolSession implements Session {
  readonly #report: SessionReport
  readonly #socket: Socket
  readonly #early: boolean
  readonly #pings = new Map<number, () => void>()
  readonly #sends = new Map<string, { resolve(): void; reject(cause: unknown): void }>()
  #isReplaced = false
  #pingCount = 0
  #stored: number
  #queue: SpoolEvent[] = []
  #reporting = false

  constructor(
    { identity, checkpoint, epoch }: LinkedAccount,
    report: SessionReport,
    signal: AbortSignal,
    { port, acknowledgesEarly }: SpoolSessionOptions,
  ) {
    this.#report = report
    this.#stored = Number(checkpoint ?? 0)
    this.#early = acknowledgesEarly
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, signal })
    this.#socket.setEncoding('utf8')
    this.#socket.once('connect', () => {
      this.#send({ hello: identity.native, stored: this.#stored, epoch })
      report.opened(identity)
    })
    this.#socket.on(
      'data',
      byLine((line) => this.#take(JSON.parse(line) as FromSpool)),
    )
    this.#socket.on('error', () => this.#socket.destroy())
    this.#socket.once('close', () => {
      const gone = failed('timeout', 'the connection is gone', { certain: false })
      for (const { reject } of this.#sends.values()) reject(gone)
      if (!this.#isReplaced) report.lost('network')
    })
  }

  async perform(operation: Operation, requestId: string): Promise<OperationResult> {
    if (operation.kind !== 'send' || operation.content.kind !== 'text') {
      throw failed('bad_request', 'the spool takes texts')
    }
    const { text } = operation.content
    await new Promise<void>((resolve, reject) => {
      this.#sends.set(requestId, { resolve, reject })
      this.#send({ send: requestId, text })
    })
    const person = { native: operation.chat, firstName: operation.chat }
    const chat = { ...person, surface: 'private' } as const
    const at = Math.floor(Date.now() / 1000)
    const content = { kind: 'text', text, entities: [] } as const
    return { kind: 'message', message: { native: requestId, chat, at, content } }
  }

  download(): never {
    throw failed('bad_request', 'the spool has no files')
  }

  async probe(signal: AbortSignal): Promise<number> {
    const began = performance.now()
    const ping = ++this.#pingCount
    await new Promise<void>((resolve, reject) => {
      this.#pings.set(ping, resolve)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      this.#send({ ping })
    })
    return performance.now() - began
  }

  async close(): Promise<void> {
    this.#socket.destroy()
  }

  #take(told: FromSpool) {
    if ('pong' in told) {
      this.#pings.get(told.pong)?.()
      this.#pings.delete(told.pong)
      return
    }
    if ('sent' in told) {
      this.#sends.get(told.sent)?.resolve()
      this.#sends.delete(told.sent)
      return
    }
    if ('replaced' in told) {
      this.#isReplaced = true
      this.#report.replaced()
      this.#socket.destroy()
      return
    }
    if (this.#early) this.#send({ acknowledged: told.event.number })
    this.#queue.push(told.event)
    if (!this.#reporting) void this.#reportAll()
  }

  /** One batch at a time: a later one must not be stored where an earlier one was not. */
  async #reportAll() {
    this.#reporting = true
    try {
      while (this.#queue.length > 0) {
        const events = this.#queue
        this.#queue = []
        if (this.#early) await pause(EARLY_MS)
        // What is handed over again may be older than what is stored.
        this.#stored = Math.max(this.#stored, events.at(-1)?.number ?? 0)
        await this.#report.events(events.map(happeningOf), this.#stored)
        if (!this.#early) this.#send({ acknowledged: this.#stored })
      }
    } catch {
      // Not stored: the core ends this session, and the next one is handed the same again.
      this.#queue = []
      this.#socket.destroy()
    }
    this.#reporting = false
  }

  #send(told: FromPlatform) {
    if (this.#socket.writable) this.#socket.write(`${JSON.stringify(told)}\n`)
  }
}

function happeningOf(event: SpoolEvent): Happening {
  const text = textOf(event)
  const person = { native: event.chat, firstName: event.chat }
  const at = Math.floor(Date.now() / 1000)
  return {
    kind: 'message',
    sourceKey: text,
    direction: 'incoming',
    at,
    message: {
      native: text,
      chat: { native: event.chat, surface: 'private', firstName: event.chat },
      from: person,
      at,
      content: { kind: 'text', text, entities: [] },
    },
  }
}
