/** Callers of one API key and what each of them did, so that a judge can say whether it could have happened one after the other. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../support/client.ts'
import type { Outcome, RecordedCall, Update } from '../support/porcupine.ts'

/** Whom the callers call, and about what. */
export interface Judged {
  readonly client: Client
  /** The addresses of all nodes: each call goes to any of them, also to one that is frozen or gone. */
  readonly urls: readonly string[]
  readonly key: string
  /** The person who writes, and to whom the bot sends. */
  readonly friend: number
  /** The account as people write to it. */
  readonly to: string
  /** What all texts of this history begin with. */
  readonly name: string
}

type Args = RecordedCall['args']

/** It reached nobody, so it was no call. */
const isUnsent = (cause: unknown) => Object(Object(cause).cause).code === 'ECONNREFUSED'

const microseconds = () => Math.round(performance.now() * 1_000)

export class History {
  readonly calls: RecordedCall[] = []

  /** `perform` rejects where nobody knows what became of the call. */
  async record(
    client: string,
    call: string,
    args: Args,
    perform: () => Promise<Outcome>,
  ): Promise<Outcome | undefined> {
    const began = microseconds()
    try {
      const outcome = await perform()
      this.calls.push({ client, call, began, ended: microseconds(), args, outcome })
      return outcome
    } catch (cause) {
      if (!isUnsent(cause)) this.calls.push({ client, call, began, args })
      return undefined
    }
  }
}

interface RawUpdate {
  readonly update_id: number
  readonly message?: { readonly text?: string }
}

export const updateOf = (raw: RawUpdate): Update => ({
  id: raw.update_id,
  text: raw.message?.text ?? JSON.stringify(raw),
})

const WRITERS = 2
const FOLLOWERS = 2
const WANDERERS = 2
const SENDERS = 2
/** Most callers give a frozen node up, some wait for it. */
const PATIENCE_MS = 3_000
const MOST_PATIENCE_MS = 20_000
const END_WITHIN_MS = 3_000
const LIMITS = [1, 3, 100]

export class Callers {
  readonly history = new History()
  readonly #judged: Judged
  readonly #random: () => number
  readonly #over = new AbortController()
  /** Cuts what is still waited for in the end. */
  readonly #cut = new AbortController()
  readonly #hook: Hook
  #running: Promise<unknown> = Promise.resolve()
  /** The newest id that any caller has seen. */
  #seen: number
  #keys = 0

  constructor(judged: Judged, random: () => number, seen: number) {
    this.#judged = judged
    this.#random = random
    this.#seen = seen
    this.#hook = new Hook(this.history, random)
  }

  async start(): Promise<void> {
    await this.#hook.listen()
    const each = (count: number, run: (name: number) => Promise<void>) =>
      Array.from({ length: count }, (_, at) => run(at + 1))
    this.#running = Promise.all([
      ...each(WRITERS, (at) => this.#write(`writer ${at}`)),
      ...each(FOLLOWERS, (at) => this.#follow(`follower ${at}`)),
      ...each(WANDERERS, (at) => this.#wander(`wanderer ${at}`)),
      ...each(SENDERS, (at) => this.#send(`sender ${at}`)),
      this.#switch(),
    ])
  }

  /** Resolves once all have ended, and the key has no webhook. */
  async end(): Promise<void> {
    this.#over.abort()
    const late = setTimeout(() => this.#cut.abort(), END_WITHIN_MS)
    await this.#running
    clearTimeout(late)
    while ((await this.#change('deleteWebhook'))?.status !== 200) await pause(200)
    this.#hook.close()
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted
  }

  #pause(least: number, most: number): Promise<unknown> {
    const ms = least + this.#random() * (most - least)
    return pause(ms, undefined, { signal: this.#over.signal }).catch(() => undefined)
  }

  #any<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item
  }

  async #bot(method: string, parameters: object, headers = {}): Promise<Outcome> {
    const { urls, key } = this.#judged
    const patience = this.#random() < 0.8 ? PATIENCE_MS : MOST_PATIENCE_MS
    const ended = this.#isOver ? [] : [this.#cut.signal]
    const response = await fetch(`${this.#any(urls)}/bot${key}/${method}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(parameters),
      signal: AbortSignal.any([AbortSignal.timeout(patience), ...ended]),
    })
    const { result, description } = (await response.json()) as {
      result?: RawUpdate[] & { message_id?: number }
      description?: string
    }
    return {
      status: response.status,
      ...(description !== undefined && { description }),
      ...(method === 'getUpdates' && result && { updates: result.map(updateOf) }),
      ...(result?.message_id !== undefined && { message: result.message_id }),
    }
  }

  async #poll(client: string, offset: number, timeout: number): Promise<Outcome | undefined> {
    const limit = this.#any(LIMITS)
    const ask = () => this.#bot('getUpdates', { offset, limit, timeout })
    const outcome = await this.history.record(client, 'getUpdates', { offset, limit }, ask)
    this.#seen = Math.max(this.#seen, outcome?.updates?.at(-1)?.id ?? 0)
    if (outcome?.status !== 200) await this.#pause(20, 200)
    return outcome
  }

  /** As bots do: confirms what it has got. */
  async #follow(client: string): Promise<void> {
    for (let offset = 0; !this.#isOver; ) {
      const outcome = await this.#poll(client, offset, this.#any([0, 1, 2]))
      const last = outcome?.updates?.at(-1)
      if (last) offset = last.id + 1
      // Only while it rests is it seen whether what it has confirmed stays so.
      await this.#pause(0, this.#random() < 0.15 ? 4_000 : 150)
    }
  }

  /** Asks for what was confirmed, for the newest only, for what does not exist yet. */
  async #wander(client: string): Promise<void> {
    while (!this.#isOver) {
      const offset = this.#any([
        0,
        0,
        Math.max(1, this.#seen - Math.floor(this.#random() * 20)),
        this.#seen + Math.floor(this.#random() * 4),
        -1 - Math.floor(this.#random() * 3),
        this.#seen + 1_000_000,
      ])
      await this.#poll(client, offset, 0)
      await this.#pause(20, 300)
    }
  }

  async #write(client: string): Promise<void> {
    const { name, friend, to, urls } = this.#judged
    for (let number = 1; !this.#isOver; number++) {
      const text = `${name} ${client} ${number}`
      await this.history.record(client, 'write', { text, number }, async () => {
        const user = this.#judged.client.at(this.#any(urls))
        const asked = user.ask('POST', `/sandbox/people/${friend}/messages`, { to, text })
        asked.catch(() => undefined)
        const late = pause(PATIENCE_MS, undefined, { ref: false })
        const answer = await Promise.race([asked, late])
        // A refusal may be of a call that was carried out.
        if (answer?.status !== 200) throw new Error('not acknowledged')
        return { status: 200 }
      })
      await this.#pause(20, 120)
    }
  }

  /** Each text under a key of its own, asked for several times: one after the other, and at once. */
  async #send(client: string): Promise<void> {
    const { name, friend } = this.#judged
    while (!this.#isOver) {
      const key = `${name} key ${++this.#keys}`
      const text = `${name} text of key ${this.#keys}`
      const send = () =>
        this.history.record(client, 'sendMessage', { key, text }, () =>
          this.#bot('sendMessage', { chat_id: friend, text }, { 'idempotency-key': key }),
        )
      const atOnce = 1 + Math.floor(this.#random() * 2)
      await Promise.all(Array.from({ length: atOnce }, send))
      await this.#pause(0, 100)
      await send()
      await this.#pause(50, 200)
    }
  }

  #change(call: 'setWebhook' | 'deleteWebhook'): Promise<Outcome | undefined> {
    const parameters = { url: this.#hook.url, max_connections: 1 }
    const change = () => this.#bot(call, call === 'setWebhook' ? parameters : {})
    return this.history.record('owner', call, {}, change)
  }

  /** To the webhook, and back to polls. */
  async #switch(): Promise<void> {
    while (!this.#isOver) {
      await this.#pause(3_000, 7_000)
      await this.#change('setWebhook')
      await this.#pause(500, 1_500)
      while ((await this.#change('deleteWebhook'))?.status !== 200 && !this.#isOver) {
        await this.#pause(100, 300)
      }
    }
  }
}

/** The webhook of the key: it takes most updates, and refuses or forgets to answer some. */
class Hook {
  readonly #history: History
  readonly #random: () => number
  readonly #server = createServer((request, response) => void this.#take(request, response))

  constructor(history: History, random: () => number) {
    this.#history = history
    this.#random = random
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = microseconds()
    const body = Buffer.concat(await request.toArray()).toString()
    const chance = this.#random()
    const taken = chance < 0.9
    if (taken) response.writeHead(200).end()
    else if (chance < 0.95) response.writeHead(500).end()
    else request.destroy()
    const outcome = { updates: [updateOf(JSON.parse(body))], taken }
    const ended = microseconds()
    this.#history.calls.push({
      client: 'webhook',
      call: 'deliver',
      began,
      ended,
      args: {},
      outcome,
    })
  }
}
