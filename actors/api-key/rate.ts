/** How fast a key may send: a rate of its own, and one for each chat (generic cell rate algorithm). */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

export interface SendRates {
  readonly key: Rate
  readonly chat: Rate
}

/** Beyond so many chats the ones that are idle again are forgotten. */
const CHATS = 10_000

export class RateLimiter {
  readonly #rates: SendRates
  readonly #chats = new Map<string, number>()
  #key = 0

  constructor(rates: SendRates) {
    this.#rates = rates
  }

  /** Counts one sending call at `now` (milliseconds); if it is too many, says in how many seconds it is not. */
  take(chat: string, now: number): number | undefined {
    const key = advance(this.#rates.key, this.#key, now)
    const perChat = advance(this.#rates.chat, this.#chats.get(chat) ?? 0, now)
    const overMs = Math.max(key.overMs, perChat.overMs)
    if (overMs > 0) return Math.ceil(overMs / 1000)
    this.#key = key.theoretical
    this.#chats.set(chat, perChat.theoretical)
    if (this.#chats.size > CHATS) this.#forget(now)
    return undefined
  }

  #forget(now: number) {
    for (const [chat, theoretical] of this.#chats) if (theoretical <= now) this.#chats.delete(chat)
  }
}

function advance({ perSecond, burst }: Rate, theoretical: number, now: number) {
  const step = 1000 / perSecond
  const most = now + burst * step
  // So far ahead is impossible: the clock was set back.
  const next = (theoretical > most + step ? now : Math.max(theoretical, now)) + step
  return { theoretical: next, overMs: next - most }
}
