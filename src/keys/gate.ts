/** Lets a bot API key in: finds its actor, and compares the secret in constant time. */
import { LRUCache } from 'lru-cache'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { KeyFacts } from '../../actors/ports/ports.ts'
import { failed, RequestFailed, thrownAs } from '../../machines/model/failure.ts'
import { networksOf } from '../accounts/client.ts'
import {
  Gcra,
  type GuessCount,
  Guesses,
  type GuessLimits,
  type RateLimit,
} from '../security/rate-limits.ts'
import { hashedSecret, parseApiKey, sameText } from '../security/secrets.ts'

/** Another node may have made the key meanwhile: bots stop for good when an answer says that there is no such key. */
const FORGET_MS = 5_000
const usualCalls: RateLimit = { perSecond: 200, burst: 2_000 }
/** Figures of the reference for unknown bots. */
const usualWrongKeys: GuessLimits = { perMinute: 20, perHour: 600 }

interface Keys {
  /** The actor if it lives now. */
  peek(apiKeyId: number): ApiKeyActor | undefined
  find(apiKeyId: number): Promise<ApiKeyActor>
}

interface StoredKeys {
  load(apiKeyId: number): Promise<KeyFacts | undefined>
  noteUse(apiKeyId: number): void
}

/** Whether a secret opens a key, compared in constant time, which is also the time that it takes without `facts`. */
export function secretMatches(
  facts: Pick<KeyFacts, 'secrets'> | undefined,
  secret: string,
  now: number,
): boolean {
  const hash = hashedSecret(secret)
  return (
    facts?.secrets.some(
      ({ hash: known, until = Infinity }) => now < until && sameText(known, hash),
    ) ?? false
  )
}

/** Whether the reference takes a text for a token, before it looks up its bot. */
const isToken = (text: string) =>
  Buffer.byteLength(text) <= 80 && !text.startsWith('0') && /^[^/]*:[^/]*$/.test(text)

export class KeyGate {
  readonly #keys: Keys
  readonly #stored: StoredKeys
  readonly #now: () => number
  readonly #unknown = new LRUCache<number, true>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
    ttl: FORGET_MS,
  })
  readonly #wrong: GuessCount
  readonly #calls: Gcra<number>

  constructor(
    keys: Keys,
    stored: StoredKeys,
    now: () => number,
    wrongKeys: GuessCount = new Guesses(usualWrongKeys),
    calls = usualCalls,
  ) {
    this.#calls = new Gcra(calls, now)
    this.#wrong = wrongKeys
    this.#keys = keys
    this.#stored = stored
    this.#now = now
  }

  /**
   * Rejects with `unauthorized`, the same for every reason but the form of the text; `forbidden` for a right key that may not
   * be used from this address, or whose user is suspended; `rate_limited` when an address guesses, or when the key
   * has used up its calls, of which this one counts for `units`. `opened` is called for a right secret even if the key has
   * ended: its owner should see who still uses it.
   */
  async admit(
    token: string,
    address: string,
    opened: (facts: KeyFacts) => void,
    units = 1,
  ): Promise<ApiKeyActor> {
    const given = parseApiKey(token)
    // Most keys live: their calls wait for nothing here.
    const facts = given && (this.#keys.peek(given.id)?.facts ?? (await this.#load(given.id)))
    const isRight = secretMatches(facts, given?.secret ?? '', this.#now())
    if (!given || !facts || !isRight) {
      // Only wrong keys count against an address: many bots may share it.
      const retryAfterSeconds = await this.#wrong.add(networksOf(address).narrow)
      if (retryAfterSeconds > 0) throw failed('rate_limited', '', { retryAfterSeconds })
      throw failed('unauthorized', isToken(token) ? '' : 'invalid token specified')
    }
    if (!mayBeUsedFrom(facts, address)) {
      opened(facts)
      // A thief uses up no calls of the owner's.
      const retryAfterSeconds = this.#calls.take(-given.id)
      throw retryAfterSeconds > 0 ? failed('rate_limited', '', { retryAfterSeconds }) : elsewhere()
    }
    // Only a right secret wakes the actor.
    const actor = this.#keys.peek(given.id) ?? (await this.#wake(facts, opened))
    opened(facts)
    // No sweep puts the actor to sleep before its call is there.
    actor.noteUse()
    const retryAfterSeconds = this.#calls.take(given.id, units)
    if (retryAfterSeconds > 0) throw failed('rate_limited', '', { retryAfterSeconds })
    if (actor.isEnded) throw failed('unauthorized')
    if (actor.suspension) throw thrownAs(actor.suspension)
    this.#stored.noteUse(given.id)
    return actor
  }

  /** Counts what an admitted call costs beside the units it came in with: calls after it wait for that. */
  owe(apiKeyId: number, units: number): void {
    if (units > 0) this.#calls.owe(apiKeyId, units)
  }

  #wake(facts: KeyFacts, opened: (facts: KeyFacts) => void): Promise<ApiKeyActor> {
    return this.#keys.find(facts.apiKeyId).catch((cause) => {
      // Its user was erased.
      if (isGone(cause)) throw failed('unauthorized')
      opened(facts)
      throw cause
    })
  }

  async #load(id: number): Promise<KeyFacts | undefined> {
    if (this.#unknown.has(id)) return undefined
    const facts = await this.#stored.load(id)
    if (!facts) this.#unknown.set(id, true)
    return facts
  }

  /** A key was made just now: its id is no longer unknown. */
  forget(id: number): void {
    this.#unknown.delete(id)
  }
}

/** Whether the key opens for this address. */
export const mayBeUsedFrom = ({ opensFrom }: KeyFacts, address: string): boolean =>
  opensFrom === undefined || opensFrom(address)

/** The refusal of a right key at a wrong address. */
export const elsewhere = () =>
  failed('forbidden', 'this key may not be used from this address', {
    reason: 'address_not_allowed',
  })

const isGone = (cause: unknown): boolean =>
  cause instanceof RequestFailed && cause.failure.code === 'not_found'
