/** The way into a room (XEP-0045): under the wanted nick or one like it, until the room says that it is done. */
import { type Element, xml } from '@xmpp/client'
import { failed, notFound } from '../../../../machines/model/failure.ts'
import { unlessAborted } from '../../kit/session-life.ts'
import { parseAddress } from '../address.ts'
import { conditionOf, Refused } from '../failures.ts'
import { ns } from '../namespaces.ts'
import type { Stream } from '../stream.ts'
import type { Bookmark } from './bookmarks.ts'

const ENTER_MS = 15_000
/** How often another nick is tried when one is taken. */
const MOST_NICKS = 5

export class Entrance {
  readonly #bookmark: Bookmark
  readonly #stream: Pick<Stream, 'sendWhenUp'>
  #nick: string
  #isInside = false
  #isRepeating = false
  #waiting: { resolve(): void; reject(cause: unknown): void } | undefined

  constructor(bookmark: Bookmark & { readonly nick: string }, stream: Pick<Stream, 'sendWhenUp'>) {
    this.#bookmark = bookmark
    this.#nick = bookmark.nick
    this.#stream = stream
  }

  get nick(): string {
    return this.#nick
  }

  get isInside(): boolean {
    return this.#isInside
  }

  /** The room still tells what was said before. */
  get isRepeating(): boolean {
    return this.#isRepeating
  }

  /**
   * A message without the room's time comes after all that it repeats. Subjects say nothing of that: ejabberd repeats former
   * ones among the messages, and Prosody gives a time to the last one.
   */
  takeNew() {
    this.#isRepeating = false
  }

  left() {
    this.#isInside = false
  }

  /** The account is in the room, under this nick. */
  restore(nick: string) {
    this.#nick = nick
    this.#isInside = true
  }

  /** `since`: fetch the last messages from this time on, in Unix seconds. */
  async enter(since: number | undefined, signal: AbortSignal): Promise<void> {
    this.#isRepeating = true
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#ask(since, signal)
        this.#isInside = true
        return
      } catch (cause) {
        if (!(cause instanceof Refused)) throw cause
        if (cause.condition !== 'conflict' || attempt === MOST_NICKS) throw refusal(cause)
        this.#nick += '_'
      }
    }
  }

  take(presence: Element) {
    const { from, type } = presence.attrs
    const user = presence.getChild('x', ns.mucUser)
    const codes = user?.getChildren('status').map(({ attrs }) => attrs.code) ?? []
    const isSelf = codes.includes('110') || parseAddress(from)?.resource === this.#nick
    if (type === 'error') return this.#waiting?.reject(new Refused(conditionOf(presence)))
    if (!isSelf) return
    const renamed = codes.includes('303') && user?.getChild('item')?.attrs.nick
    if (renamed) this.#nick = renamed
    else if (type === 'unavailable') this.#isInside = false
    else if (codes.includes('110')) {
      // The room may have changed the nick on the way in.
      this.#nick = parseAddress(from)?.resource ?? this.#nick
      this.#waiting?.resolve()
    }
  }

  async #ask(since: number | undefined, signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ENTER_MS)])
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const before = this.#waiting
    // The same answer completes an attempt in progress, perhaps one from before an interruption.
    const waiting = {
      resolve() {
        before?.resolve()
        resolve()
      },
      reject(cause: unknown) {
        before?.reject(cause)
        reject(cause)
      },
    }
    this.#waiting = waiting
    const { room, password } = this.#bookmark
    const history =
      since === undefined ? { maxstanzas: 0 } : { since: new Date(since * 1000).toISOString() }
    const join = xml(
      'x',
      ns.muc,
      xml('history', history),
      password && xml('password', {}, password),
    )
    const presence = xml('presence', { to: `${room}/${this.#nick}` }, join)
    try {
      this.#stream.sendWhenUp(presence, limit).catch(reject)
      await unlessAborted(promise, limit)
    } finally {
      if (this.#waiting === waiting) this.#waiting = undefined
    }
  }
}

function refusal(cause: Refused) {
  switch (cause.condition) {
    case 'item-not-found':
    case 'gone':
      return notFound('chat', { cause })
    case 'remote-server-not-found':
    case 'remote-server-timeout':
    case 'recipient-unavailable':
    case 'internal-server-error':
    case 'resource-constraint':
    case 'service-unavailable':
      return failed('unavailable', 'the room cannot be joined now', { retryAfterSeconds: 30 })
    case 'forbidden':
      return failed('forbidden', 'bot was kicked from the supergroup chat', {}, { cause })
    default:
      // Members only, or a missing password.
      return failed('forbidden', 'bot is not a member of the supergroup chat', {}, { cause })
  }
}
