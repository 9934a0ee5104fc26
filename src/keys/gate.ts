/** Lets a bot API key in: finds its actor, and compares the secret in constant time. */
import { LRUCache } from 'lru-cache'
import type { ApiKeyActor } from '../../actors/api-key.ts'
import { failed } from '../../actors/errors.ts'
import type { KeyFacts } from '../../actors/ports.ts'
import { networksOf } from '../accounts/client.ts'
import { hashSecret, parseApiKey, sameHash } from '../security/keys.ts'

/** Wrong keys from one address in a minute; figures of the reference for unknown bots. */
const WRONG_PER_MINUTE = 20
const FORGET_MS = 60_000

interface KeyDirectory {
  /** The actor if it lives now. */
  peek(apiKeyId: number): ApiKeyActor | undefined
  /** What is stored of a key. */
  load(apiKeyId: number): Promise<KeyFacts | undefined>
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
    const facts = given && (await this.#facts(given.id))
    const hash = hashSecret(given?.secret ?? '')
    const now = this.#now()
    const isRight = facts?.secrets.some(
      (secret) => now < (secret.until ?? Infinity) && sameHash(secret.hash, hash),
    )
    if (!given || !isRight) {
      this.#countWrong(networksOf(address).narrow)
      throw failed('unauthorized')
    }
    // Only who has the secret wakes the actor.
    const actor = await this.#keys.find(given.id)
    if (actor.isEnded) throw failed('unauthorized')
    this.#onUse(given.id)
    return actor
  }

  /** Right keys are let in whatever their neighbours do: many may share one address. */
  #countWrong(network: string) {
    const wrong = (this.#wrong.get(network) ?? 0) + 1
    const left = this.#wrong.getRemainingTTL(network)
    this.#wrong.set(network, wrong, left > 0 ? { ttl: left } : {})
    if (wrong > WRONG_PER_MINUTE) {
      throw failed('rate_limited', '', { retryAfterSeconds: Math.ceil((left || FORGET_MS) / 1000) })
    }
  }

  async #facts(id: number): Promise<KeyFacts | undefined> {
    const live = this.#keys.peek(id)
    if (live) return live.facts
    if (this.#unknown.has(id)) return undefined
    const facts = await this.#keys.load(id)
    if (!facts) this.#unknown.set(id, true)
    return facts
  }

  /** A key was made just now: its id is no longer unknown. */
  forget(id: number): void {
    this.#unknown.delete(id)
  }
}
