/** A messenger on the loopback interface: people and their private chats, faults, and routes that speak a network's protocol. */
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { listen, portOf } from '../../support/http-server.ts'

interface Named {
  readonly id: number
  readonly name: string
}

export interface Person extends Named {
  /** What shows that a request is this person's. */
  readonly token: string
}

export interface Letter {
  readonly id: number
  readonly from: Named
  readonly to: Named
  /** Unix time in seconds. */
  readonly at: number
  readonly text: string
  readonly replyTo?: number
  readonly editedAt?: number
}

/** `number` counts the events of one person from 1 on. */
export interface Event {
  readonly number: number
  readonly kind: 'message' | 'edited' | 'deleted'
  readonly letter: Letter
  /** The client's own id of the request that has caused it. */
  readonly requestId?: string
}

/** What a route answers in place of a result. */
export class Denied extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, reason: string, headers: Readonly<Record<string, string>> = {}) {
    super(reason)
    this.status = status
    this.headers = headers
  }
}

export interface Asked {
  readonly network: LoopbackNetwork
  readonly person: Person
  readonly body: Readonly<Record<string, unknown>>
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
}

/** By the path of a request; each answers with what becomes the JSON of the answer. */
export type Routes = Readonly<Record<string, (asked: Asked) => unknown>>

/** What is done to a person's requests. */
interface Faults {
  /** Requests are neither carried out nor answered. */
  isSilent?: boolean
  isRevoked?: boolean
  isBanned?: boolean
  limitedUntil?: number
  repeats?: boolean
  lostAnswers?: number
}

/** A request is a POST of JSON with `authorization: Bearer <token>`. */
export class LoopbackNetwork {
  readonly people = new Map<number, Person>()
  readonly letters: Letter[] = []
  readonly #faults = new Map<number, Faults>()
  readonly #events = new Map<number, Event[]>()
  readonly #sent = new Map<string, Letter>()
  readonly #typed = new Set<string>()
  readonly #changes = new EventTarget()
  readonly #routes: Routes
  #server: Server | undefined
  #ids = 0

  private constructor(routes: Routes) {
    this.#routes = routes
  }

  static async start(t: Pick<Test, 'teardown'>, routes: Routes): Promise<LoopbackNetwork> {
    const network = new LoopbackNetwork(routes)
    network.#server = await listen(t, (request, response) => {
      network.#answer(request, response).catch((cause) => response.destroy(cause))
    })
    return network
  }

  get port(): number {
    return portOf(this.#server!)
  }

  person(name = 'Ada'): Person {
    const id = ++this.#ids
    const person = { id, name, token: `${id}:${crypto.randomUUID()}` }
    this.people.set(id, person)
    this.#faults.set(id, {})
    this.#events.set(id, [])
    return person
  }

  /** What happened to the person after the event with this number. */
  eventsAfter({ id }: Person, number: number): readonly Event[] {
    return this.#events.get(id)?.slice(number) ?? []
  }

  /** Resolves when anything has changed, or the signal aborts. */
  async change(signal: AbortSignal): Promise<void> {
    await once(this.#changes, 'change', { signal }).catch(() => undefined)
  }

  /** A letter with the same `requestId` by the same person is the same letter. */
  send(
    from: Person,
    to: number,
    text: string,
    { replyTo, requestId }: { readonly replyTo?: number; readonly requestId?: string } = {},
  ): Letter {
    const reader = this.people.get(to)
    if (!reader) throw new Denied(404, 'chat not found')
    const key = `${from.id} ${requestId ?? crypto.randomUUID()}`
    const same = this.#sent.get(key)
    if (same) return same
    const id = this.letters.length + 1
    const answered = replyTo !== undefined && { replyTo }
    const letter = { id, from: named(from), to: named(reader), at: seconds(), text, ...answered }
    this.letters.push(letter)
    this.#sent.set(key, letter)
    this.#tell('message', letter, requestId)
    return letter
  }

  edit(id: number, text: string, requestId?: string): Letter {
    const letter = { ...this.#letter(id), text, editedAt: seconds() }
    this.letters[id - 1] = letter
    this.#tell('edited', letter, requestId)
    return letter
  }

  delete(id: number, requestId?: string): void {
    const letter = this.#letter(id)
    delete this.letters[id - 1]
    this.#tell('deleted', letter, requestId)
  }

  type(from: Person, to: number): void {
    this.#typed.add(`${from.id} ${to}`)
    this.#changes.dispatchEvent(new globalThis.Event('change'))
  }

  /** Whether the person was seen typing; asked once, it is forgotten. */
  hasTyped(from: number, to: number): boolean {
    return this.#typed.delete(`${from} ${to}`)
  }

  fault({ id }: Person, faults: Faults): void {
    Object.assign(this.#faults.get(id) ?? {}, faults)
    this.#changes.dispatchEvent(new globalThis.Event('change'))
  }

  #letter(id: number): Letter {
    const letter = this.letters[id - 1]
    if (!letter) throw new Denied(404, 'message not found')
    return letter
  }

  #tell(kind: Event['kind'], letter: Letter, requestId?: string): void {
    for (const id of new Set([letter.from.id, letter.to.id])) {
      const events = this.#events.get(id) ?? []
      const times = this.#faults.get(id)?.repeats ? 2 : 1
      for (let time = 0; time < times; time++) {
        const cause = requestId !== undefined && { requestId }
        events.push({ number: events.length + 1, kind, letter, ...cause })
      }
    }
    this.#changes.dispatchEvent(new globalThis.Event('change'))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const { status, headers = {}, body } = await this.#resultOf(request, gone.signal)
    if (response.destroyed) return
    const type = { 'content-type': 'application/json' }
    response.writeHead(status, { ...type, ...headers }).end(JSON.stringify(body))
  }

  async #resultOf(request: IncomingMessage, signal: AbortSignal) {
    try {
      const person = this.#personOf(request)
      await this.#flow(person, signal)
      const text = Buffer.concat(await request.toArray()).toString()
      const route = this.#routes[request.url?.slice(1) ?? '']
      if (!route) throw new Denied(404, 'there is no such route')
      const asked = { network: this, person, body: text ? JSON.parse(text) : {}, signal }
      const body = await route(asked)
      // The fault may have come while the request was held.
      await this.#flow(person, signal)
      this.#assertServed(person)
      const faults = this.#faults.get(person.id)!
      if (!faults.lostAnswers || !isChange(request)) return { status: 200, body }
      faults.lostAnswers -= 1
      request.socket.destroy()
      return { status: 200, body }
    } catch (cause) {
      if (signal.aborted) return { status: 499, body: null }
      if (!(cause instanceof Denied)) throw cause
      const { status, headers, message } = cause
      return { status, headers, body: { error: message } }
    }
  }

  /** Resolves once the network is not silent towards the person, or the client is gone. */
  async #flow({ id }: Person, signal: AbortSignal): Promise<void> {
    while (this.#faults.get(id)?.isSilent && !signal.aborted) await this.change(signal)
    signal.throwIfAborted()
  }

  #personOf({ headers }: IncomingMessage): Person {
    const token = headers.authorization?.replace('Bearer ', '')
    const person = [...this.people.values()].find((one) => one.token === token)
    if (!person) throw new Denied(401, 'nobody has this token')
    this.#assertServed(person)
    return person
  }

  #assertServed({ id }: Person): void {
    const { isBanned, isRevoked, limitedUntil = 0 } = this.#faults.get(id) ?? {}
    if (isBanned) throw new Denied(403, 'the account is banned')
    if (isRevoked) throw new Denied(401, 'the session was signed out')
    const left = Math.ceil(limitedUntil - Date.now() / 1000)
    if (left > 0) throw new Denied(429, 'too many requests', { 'retry-after': `${left}` })
  }
}

/** Only answers to what changes something can be lost: a poll would be asked again unnoticed. */
const isChange = ({ url }: IncomingMessage) => url === '/send'

const named = ({ id, name }: Person): Named => ({ id, name })

const seconds = () => Math.floor(Date.now() / 1000)
