/** The archive of an account or of a room on its server (XEP-0313), read page by page. */

import { randomUUID } from 'node:crypto'
import { type Element, xml } from '@xmpp/client'
import { limited } from '../../../actors/host/time.ts'
import { SparseMap } from '../kit/recent-map.ts'
import { bareOf } from './address.ts'
import { ns } from './namespaces.ts'
import { isDeclined, RequestRefused, type Requests } from './requests.ts'
import { Oversized, weightOf } from './transport.ts'

export interface ArchivedMessage {
  readonly id: string
  /** Unix time in seconds. */
  readonly at: number
  readonly message: Element
}

export interface ArchivePage {
  readonly messages: readonly ArchivedMessage[]
  readonly complete: boolean
}

export interface PageRange {
  /** After this id; the oldest page when absent. */
  readonly after?: string
  /** Before this id; an empty string is the newest page. */
  readonly before?: string
  /** Unix time in seconds. */
  readonly start?: number
  /** Only the messages exchanged with this address. */
  readonly with?: string
  /** Fewer where messages are huge. */
  readonly max?: number
}

/** Servers limit this, Prosody to 50 by default. Larger pages take longer to read from disk. */
const PAGE_SIZE = 250
const PAGE_MS = 30_000
/** How far the clock of an archive may be ahead: a message has the same time whenever it is read. */
const AHEAD_SECONDS = 300
const POLICY_MS = 8_000
const FEW_MESSAGES = 100
/** The largest weight of a page, see `weightOf`: an archive may send anything before it ends its answer. */
const HEAVIEST = 32 * 2 ** 20

interface Answer {
  readonly messages: ArchivedMessage[]
  weight: number
  readonly tooMuch: AbortController
}

export class Archive {
  /** The owner of the archive: the account or a room. */
  readonly address: string
  readonly #own: string
  readonly #requests: Pick<Requests, 'ask'>
  readonly #queries = new SparseMap<string, Answer>()
  #mostAtOnce = PAGE_SIZE

  constructor(address: string, own: string, requests: Pick<Requests, 'ask'>) {
    this.address = address
    this.#own = own
    this.#requests = requests
  }

  /** Rejects with `Oversized` when even a single message does not fit into the memory. */
  async page(range: PageRange, signal: AbortSignal): Promise<ArchivePage> {
    for (;;) {
      const max = Math.min(range.max ?? PAGE_SIZE, this.#mostAtOnce)
      try {
        return await this.#ask({ ...range, max }, signal)
      } catch (cause) {
        if (!(cause instanceof Oversized) || max === 1) throw cause
        this.#mostAtOnce = Math.ceil(max / 8)
      }
    }
  }

  async #ask(
    range: PageRange & { readonly max: number },
    signal: AbortSignal,
  ): Promise<ArchivePage> {
    const query = randomUUID()
    const messages: ArchivedMessage[] = []
    const tooMuch = new AbortController()
    this.#queries.set(query, { messages, weight: 0, tooMuch })
    try {
      const question = pageQuery(query, range)
      // The server answers its account in the account's own name.
      const to = this.address !== this.#own && { to: this.address }
      const answer = await limited([signal, tooMuch.signal], Number.POSITIVE_INFINITY, (limit) =>
        this.#requests.ask('set', question, { ...to, signal: limit, milliseconds: PAGE_MS }),
      )
      const end = answer.getChild('fin', ns.archive)
      const first = end?.getChild('set', ns.paging)?.getChildText('first') ?? undefined
      return { messages: this.#named(messages, first), complete: end?.attrs.complete === 'true' }
    } finally {
      this.#queries.delete(query)
    }
  }

  /** jackal gives each answer ids of its own. The ids by which it finds a message again stand in the page and beside the message. */
  #named(messages: ArchivedMessage[], first: string | undefined): ArchivedMessage[] {
    const [oldest] = messages
    if (!oldest || first === undefined || oldest.id === first) return messages
    const names = messages.map(({ message }) => stanzaId(message, this.address))
    if (names[0] !== first) return messages
    return messages.map((archived, index) => ({ ...archived, id: names[index] ?? archived.id }))
  }

  /** The last messages before a place; empty if the archive no longer has the place. */
  async before(place: string, signal: AbortSignal): Promise<readonly ArchivedMessage[]> {
    try {
      return (await this.page({ before: place, max: FEW_MESSAGES }, signal)).messages
    } catch (cause) {
      if (cause instanceof RequestRefused) return []
      throw cause
    }
  }

  /** By the account's preferences: whether the archive takes messages to a person for certain. Undefined: it is not known. */
  async policy(signal: AbortSignal): Promise<(peer: string) => boolean | undefined> {
    try {
      const options = { signal, milliseconds: POLICY_MS }
      const answer = await this.#requests.ask('get', xml('prefs', ns.archive), options)
      return policyIn(answer.getChild('prefs', ns.archive))
    } catch (cause) {
      if (isDeclined(cause)) return () => undefined
      throw cause
    }
  }

  /** Takes a message if it is a part of an answer; returns whether it was. */
  take(stanza: Element): boolean {
    const result = stanza.getChild('result', ns.archive)
    if (!result) return false
    if (!this.#mayAnswer(stanza)) return false
    const answer = this.#queries.get(result.attrs.queryid ?? '')
    if (!answer) return true
    const forwarded = result.getChild('forwarded', ns.forward)
    const message = forwarded?.getChild('message')
    if (result.attrs.id && message) {
      const at = timeIn(forwarded?.getChild('delay', ns.delay), AHEAD_SECONDS) ?? nowSeconds()
      answer.messages.push({ id: result.attrs.id, at, message })
      answer.weight += weightOf(message)
    }
    if (answer.weight > HEAVIEST) {
      this.#queries.delete(result.attrs.queryid ?? '')
      answer.tooMuch.abort(new Oversized('The archive says too much at a time'))
    }
    return true
  }

  /** Anybody can send such a message, people of a room under its address, too: to others it is a message like any. */
  #mayAnswer({ attrs: { from } }: Element): boolean {
    const isOwn = this.address === this.#own
    return bareOf(from, this.#own) === this.address && (isOwn || !from?.includes('/'))
  }
}

/** Unix time. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/**
 * When a message was sent that comes late (XEP-0203), in Unix seconds; not further in the future than this, whoever says
 * so.
 */
export function timeIn(delay: Element | undefined, aheadSeconds = 0): number | undefined {
  const stamp = Date.parse(delay?.attrs.stamp ?? '')
  if (Number.isNaN(stamp)) return undefined
  return Math.max(0, Math.min(Math.floor(stamp / 1000), nowSeconds() + aheadSeconds))
}

/**
 * The id that an archive says it has given to a message (XEP-0359). Prosody 0.12 adds its own after one that the sender
 * has made up, and leaves that one in the message.
 */
export const stanzaId = (message: Element, archive: string): string | undefined =>
  message.getChildren('stanza-id', ns.ids).findLast(({ attrs }) => attrs.by === archive)?.attrs.id

function policyIn(preferences: Element | undefined): (peer: string) => boolean | undefined {
  const named = (list: 'always' | 'never') =>
    preferences
      ?.getChild(list)
      ?.getChildren('jid')
      .map((jid) => jid.getText().trim()) ?? []
  const [always, never] = [named('always'), named('never')]
  const others = preferences?.attrs.default
  return (peer) => {
    if (never.includes(peer)) return false
    if (always.includes(peer)) return true
    // It may go by the roster, which may change.
    return others === undefined ? undefined : others === 'always'
  }
}

function pageQuery(query: string, range: PageRange & { readonly max: number }): Element {
  const { after, before, start, with: peer, max } = range
  const field = (name: string, value: string) =>
    xml('field', { var: name }, xml('value', {}, value))
  return xml(
    'query',
    { xmlns: ns.archive, queryid: query },
    xml(
      'x',
      { xmlns: ns.form, type: 'submit' },
      xml('field', { var: 'FORM_TYPE', type: 'hidden' }, xml('value', {}, ns.archive)),
      peer !== undefined && field('with', peer),
      start !== undefined && field('start', new Date(start * 1000).toISOString()),
    ),
    xml(
      'set',
      ns.paging,
      xml('max', {}, String(max)),
      after !== undefined && xml('after', {}, after),
      before !== undefined && xml('before', {}, before),
    ),
  )
}
