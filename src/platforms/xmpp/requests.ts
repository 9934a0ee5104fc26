/** Requests to the server and to others (`iq` stanzas): each ends with one answer or with its time limit. */

import { randomUUID } from 'node:crypto'
import { type Element, xml } from '@xmpp/client'
import { limited } from '../../../actors/host/time.ts'
import { SparseMap } from '../kit/recent-map.ts'
import { unlessAborted } from '../kit/session-life.ts'
import { parseAddress } from './address.ts'
import { BrokenWrite, conditionOf, doneInPart } from './failures.ts'
import { ns } from './namespaces.ts'

/** The other side answered with an error; `condition` is its name in the standard. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  readonly condition: string

  constructor(condition: string) {
    super(`The server answered ${condition}`)
    this.condition = condition
  }
}

/** Refused, or not answered in time, as some servers do with what they do not know: one goes on without what was asked for. */
export const isDeclined = (cause: unknown): boolean =>
  cause instanceof RequestRefused ||
  (cause instanceof DOMException && cause.name === 'TimeoutError')

/** Sends once there is a connection. */
type Send = (stanza: Element, signal: AbortSignal) => Promise<void>

interface Question {
  readonly to: string | undefined
  readonly resolve: (answer: Element) => void
  readonly reject: (cause: unknown) => void
}

export interface RequestOptions {
  /** The account itself when absent. */
  readonly to?: string
  readonly milliseconds?: number
  readonly signal: AbortSignal
}

const ANSWER_MS = 15_000

export class Requests {
  readonly #own: string
  readonly #send: Send
  readonly #waiting = new SparseMap<string, Question>()

  constructor(own: string, send: Send) {
    this.#own = own
    this.#send = send
  }

  /** Resolves with the whole answer. An answer that is lost with a broken connection ends in the time limit. */
  async ask(type: 'get' | 'set', payload: Element, options: RequestOptions): Promise<Element> {
    const { milliseconds = ANSWER_MS, signal } = options
    return limited([signal], milliseconds, (limit) => this.#ask(type, payload, options.to, limit))
  }

  /** Asks for a change. Rejects with `RequestRefused`, or says whether it may have been made. */
  async change(payload: Element, options: RequestOptions): Promise<void> {
    let mayBeMade = false
    const sent = () => {
      mayBeMade = true
    }
    const { milliseconds = ANSWER_MS, signal, to } = options
    await limited([signal], milliseconds, (limit) =>
      this.#ask('set', payload, to, limit, sent),
    ).catch((cause) => {
      throw mayBeMade && !(cause instanceof RequestRefused) ? doneInPart(cause) : cause
    })
  }

  /** Calls `sent` once the other side may have it. */
  async #ask(
    type: 'get' | 'set',
    payload: Element,
    to: string | undefined,
    limit: AbortSignal,
    sent: () => void = () => undefined,
  ): Promise<Element> {
    limit.throwIfAborted()
    const id = randomUUID()
    const { promise, resolve, reject } = Promise.withResolvers<Element>()
    this.#waiting.set(id, { to, resolve, reject })
    this.#send(xml('iq', { type, id, to }, payload), limit).then(sent, (cause) => {
      if (cause instanceof BrokenWrite) sent()
      reject(cause)
    })
    try {
      return await unlessAborted(promise, limit)
    } finally {
      this.#waiting.delete(id)
    }
  }

  /** Takes an answer that a caller waits for; returns whether it was one. */
  take(stanza: Element): boolean {
    const { type, id, from } = stanza.attrs
    if (!stanza.is('iq') || (type !== 'result' && type !== 'error')) return false
    const question = id && this.#waiting.get(id)
    if (!question || !this.#mayAnswer(question, from)) return false
    if (type === 'error') question.reject(new RequestRefused(conditionOf(stanza)))
    else question.resolve(stanza)
    return true
  }

  /** Only the asked address may answer; the server may leave out the sender when it answers for the account. */
  #mayAnswer({ to }: Question, from: string | undefined): boolean {
    if (to) return from === to
    return from === undefined || parseAddress(from)?.bare === this.#own
  }
}

/** Servers end the stream of who sends them too long a stanza, and some characters of an id are written as six. */
export const LONGEST_ECHO = 1_024

/** Whether it wants an answer, of whatever kind. */
export const isQuestion = (stanza: Element): boolean =>
  stanza.is('iq') && stanza.attrs.type !== 'result' && stanza.attrs.type !== 'error'

/** The answer that everybody who asks has to get (RFC 6120, 8.2.3), short whatever was asked; undefined where nothing was asked. */
export function answerTo(stanza: Element): Element | undefined {
  const { type, id, from: to, to: from } = stanza.attrs
  if (!isQuestion(stanza) || (id && id.length > LONGEST_ECHO)) return undefined
  const [asked, ...more] = stanza.getChildElements()
  const isClear = asked !== undefined && more.length === 0 && (type === 'get' || type === 'set')
  if (isClear && type === 'get' && asked.is('ping', ns.ping)) {
    return xml('iq', { type: 'result', id, from, to })
  }
  const [kind, condition] = isClear ? ['cancel', 'service-unavailable'] : ['modify', 'bad-request']
  const error = xml('error', { type: kind }, xml(condition, ns.stanzaErrors))
  return xml('iq', { type: 'error', id, from, to }, error)
}

/** Resolves when the other side answers (XEP-0199). An error is an answer too. */
export async function ping(
  requests: Pick<Requests, 'ask'>,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await requests.ask('get', xml('ping', ns.ping), { to, signal })
  } catch (cause) {
    if (!(cause instanceof RequestRefused)) throw cause
  }
}

/**
 * Asks for copies of the messages of the account's other devices (XEP-0280), on each new stream. Resolves with whether
 * the server sends them.
 */
export async function enableCarbons(requests: Requests, signal: AbortSignal): Promise<boolean> {
  try {
    await requests.ask('set', xml('enable', ns.carbons), { signal })
    return true
  } catch (cause) {
    if (isDeclined(cause)) return false
    throw cause
  }
}
