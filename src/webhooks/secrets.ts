/** The secrets that sign deliveries: one for each key that wants it; a replaced one signs along for a day. */
import { LRUCache } from 'lru-cache'
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'
import { newSigningSecret } from './signature.ts'

const OVERLAP_MS = 86_400_000

export interface SigningSecret {
  readonly secret: string
  readonly createdAt: number
  readonly previous?: { readonly secret: string; readonly until: number }
}

interface Known {
  /** Undefined for a key that has none. */
  readonly found: SigningSecret | undefined
}

const placeOf = (apiKeyId: number) => ({ table: 'webhook_secret', column: 'sealed', row: apiKeyId })

export class SigningSecrets {
  readonly #db: Database
  readonly #vault: Vault
  /** Also of keys that have none: every attempt asks. */
  readonly #known = new LRUCache<number, Known>({
    max: 20_000,
    ttl: 60_000,
    // Every attempt asks: finer, it would begin a timer in each millisecond.
    ttlResolution: 1_000,
  })

  #asked = new Map<number, PromiseWithResolvers<Known>>()

  constructor(db: Database, vault: Vault) {
    this.#db = db
    this.#vault = vault
  }

  async find(apiKeyId: number): Promise<SigningSecret | undefined> {
    const { found } = this.known(apiKeyId) ?? (await this.load(apiKeyId))
    return found
  }

  /** Undefined where it must be loaded first. */
  known(apiKeyId: number): Known | undefined {
    return this.#known.get(apiKeyId)
  }

  load(apiKeyId: number): Promise<Known> {
    const asked = this.#asked.get(apiKeyId) ?? Promise.withResolvers<Known>()
    this.#asked.set(apiKeyId, asked)
    // A thousand keys that wake at once ask with one statement.
    if (this.#asked.size === 1) setImmediate(() => void this.#load())
    return asked.promise
  }

  async #load(): Promise<void> {
    const asked = this.#asked
    this.#asked = new Map()
    try {
      const rows = await this.#db.query<{ api_key_id: number; sealed: Buffer }>(
        'select api_key_id, sealed from webhook_secret where api_key_id = any($1)',
        [[...asked.keys()]],
      )
      const sealed = new Map(rows.map((row) => [row.api_key_id, row.sealed]))
      for (const [apiKeyId, { resolve, reject }] of asked) {
        // One that cannot be read is no matter of the others.
        await this.#keep(apiKeyId, sealed.get(apiKeyId)).then(resolve, reject)
      }
    } catch (error) {
      for (const { reject } of asked.values()) reject(error)
    }
  }

  async #keep(apiKeyId: number, sealed: Buffer | undefined): Promise<Known> {
    const known = { found: await this.#open(apiKeyId, sealed) }
    this.#known.set(apiKeyId, known)
    return known
  }

  async #open(apiKeyId: number, sealed: Buffer | undefined): Promise<SigningSecret | undefined> {
    if (!sealed) return undefined
    return JSON.parse((await this.#vault.open(placeOf(apiKeyId), sealed)).toString())
  }

  async rotate(apiKeyId: number, credentialId: number, now: number): Promise<SigningSecret> {
    this.#known.delete(apiKeyId)
    const before = await this.find(apiKeyId)
    const next: SigningSecret = {
      secret: newSigningSecret(),
      createdAt: now,
      ...(before && { previous: { secret: before.secret, until: now + OVERLAP_MS } }),
    }
    const sealed = await this.#vault.seal(
      `credential:${credentialId}`,
      placeOf(apiKeyId),
      Buffer.from(JSON.stringify(next)),
    )
    await this.#db.query(
      `insert into webhook_secret (api_key_id, sealed) values ($1, $2)
       on conflict (api_key_id) do update set sealed = $2, created_at = now()`,
      [apiKeyId, sealed],
    )
    this.#known.set(apiKeyId, { found: next })
    return next
  }
}

const nothing: readonly string[] = []

/** The newest first. */
export function secretsInForce(found: SigningSecret | undefined, now: number): readonly string[] {
  if (!found) return nothing
  const { secret, previous } = found
  return previous && now < previous.until ? [secret, previous.secret] : [secret]
}
