/** Lets a bot API key in: finds its actor, and compares the secret in constant time. */
import { LRUCache } from 'lru-cache'
import type { ApiKeyActor } from '../../actors/api-key.ts'
import { failed, RequestFailed } from '../../actors/errors.ts'
import { hashSecret, parseApiKey, sameHash } from '../security/keys.ts'

/** Wrong keys from one address in a minute; figures of the reference for unknown bots. */
const WRONG_PER_MINUTE = 20
const FORGET_MS = 60_000

interface KeyDirectory {
  find(apiKeyId: number): Promise<ApiKeyActor>
}

export class KeyGate {
  readonly #keys: KeyDirectory
  readonly #now: () => number
  readonly #onUse: (apiKeyId: number) => void
  readonly #unknown = new LRUCache<number, true>({ max: 10_000, ttl: FORGET_MS })
  readonly #wrong = new LRUCache<string, number>({ max: 50_000, ttl: FORGET_MS })

  constructor(keys: KeyDirectory, now: () => number, onUse: (apiKeyId: number) => void) {
    this.#keys = keys
    this.#now = now
    this.#onUse = onUse
  }

  /** Rejects with `unauthorized`, the same for every reason; `rate_limited` when an address guesses. */
  async admit(token: string, address: string): Promise<ApiKeyActor> {
    const given = parseApiKey(token)
    const actor = given && (await this.#find(given.id))
    const hash = hashSecret(given?.secret ?? '')
    const now = this.#now()
    const isRight = actor?.facts.secrets.some(
      (secret) => now < (secret.until ?? Infinity) && sameHash(secret.hash, hash),
    )
    if (actor && isRight) {
      // Whoever has the secret of a key that ended does not guess.
      if (actor.isEnded) throw failed('unauthorized')
      this.#onUse(given.id)
      return actor
    }
    this.#countWrong(address)
    throw failed('unauthorized')
  }

  #countWrong(address: string) {
    const wrong = (this.#wrong.get(address) ?? 0) + 1
    const left = this.#wrong.getRemainingTTL(address)
    this.#wrong.set(address, wrong, left > 0 ? { ttl: left } : {})
    if (wrong > WRONG_PER_MINUTE) {
      throw failed('rate_limited', '', { retryAfterSeconds: Math.ceil((left || FORGET_MS) / 1000) })
    }
  }

  async #find(id: number): Promise<ApiKeyActor | undefined> {
    if (this.#unknown.has(id)) return undefined
    try {
      return await this.#keys.find(id)
    } catch (cause) {
      if (!(cause instanceof RequestFailed) || cause.failure.code !== 'not_found') throw cause
      this.#unknown.set(id, true)
      return undefined
    }
  }

  /** A key was made just now: its id is no longer unknown. */
  forget(id: number): void {
    this.#unknown.delete(id)
  }
}
