/** Secrets that sign deliveries, and their signatures (Standard Webhooks). A replaced secret signs along for a day. */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { noteChange } from '../audit/log.ts'
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export const newSigningSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

export const OVERLAP_MS = 86_400_000

export interface SigningSecret {
  readonly secret: string
  readonly createdAt: number
  readonly previous?: { readonly secret: string; readonly until: number }
}

/** Made once of each secret: a signature by its bare bytes takes several times as long. */
export interface SigningKey {
  readonly key: KeyObject
  /** It signs before this time. */
  readonly until: number
}

interface Known {
  /** Undefined for a key without a secret. */
  readonly found: SigningSecret | undefined
  /** Of the secret that was found, and of the one before it. */
  readonly signing: readonly SigningKey[]
}

const placeOf = (apiKeyId: number) => ({ table: 'webhook_secret', column: 'sealed', row: apiKeyId })

export class SigningSecrets {
  readonly #db: Database
  readonly #vault: Vault
  /** Also for keys without a secret, because every attempt looks here. */
  readonly #known = new LRUCache<number, Known>({
    maxSize: 20_000,
    sizeCalculation: () => 1,
    ttl: 60_000,
    // Every attempt looks here; a finer resolution would start a timer in each millisecond.
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

  /** Undefined if it has to be loaded first. */
  known(apiKeyId: number): Known | undefined {
    return this.#known.get(apiKeyId)
  }

  load(apiKeyId: number): Promise<Known> {
    const asked = this.#asked.get(apiKeyId) ?? Promise.withResolvers<Known>()
    this.#asked.set(apiKeyId, asked)
    // A thousand keys that wake at the same time need one statement.
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
        // A secret that cannot be opened fails alone.
        await this.#keep(apiKeyId, sealed.get(apiKeyId)).then(resolve, reject)
      }
    } catch (error) {
      for (const { reject } of asked.values()) reject(error)
    }
  }

  async #keep(apiKeyId: number, sealed: Buffer | undefined): Promise<Known> {
    return this.#know(apiKeyId, await this.#open(apiKeyId, sealed))
  }

  #know(apiKeyId: number, found: SigningSecret | undefined): Known {
    const known = { found, signing: signingKeys(found) }
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
    await this.#db.transaction(async (tx) => {
      await tx.query(
        `insert into webhook_secret (api_key_id, sealed) values ($1, $2)
         on conflict (api_key_id) do update set sealed = $2, created_at = now()`,
        [apiKeyId, sealed],
      )
      await noteChange(tx)
    })
    this.#know(apiKeyId, next)
    return next
  }
}

const nothing: readonly SigningKey[] = []

/** The newest first. */
export function signingKeys(found: SigningSecret | undefined): readonly SigningKey[] {
  if (!found) return nothing
  const { secret, previous } = found
  const newest = { key: keyOf(secret), until: Number.POSITIVE_INFINITY }
  return previous ? [newest, { key: keyOf(previous.secret), until: previous.until }] : [newest]
}

const keyOf = (secret: string) =>
  createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'))

interface Signed {
  readonly id: string
  /** Unix time in seconds, of the attempt. */
  readonly timestamp: number
  readonly body: string
}

/** `v1,` and an HMAC of id, time and body; one signature for each key that signs at this time, the newest first. */
export function signatures(
  { id, timestamp, body }: Signed,
  keys: readonly SigningKey[],
  now: number,
): string {
  const text = `${id}.${timestamp}.${body}`
  let all = ''
  for (const { key, until } of keys) {
    if (now >= until) continue
    const mac = createHmac('sha256', key).update(text).digest('base64')
    all += all === '' ? `v1,${mac}` : ` v1,${mac}`
  }
  return all
}
