/** The keys that sign access tokens: made here, sealed in the database, replaced every ninety days. */

import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from 'jose'
import { noteIn } from '../audit/log.ts'
import type { Database } from '../database/database.ts'
import { SigningKey } from '../database/entities.ts'
import type { Vault } from '../security/vault.ts'
import { type Clock, secondsAfter } from './clock.ts'

export const ALGORITHM = 'EdDSA'
/** How long an access token is valid. */
export const LIFETIME_SECONDS = 600
/** How far clocks may differ. */
export const LEEWAY_SECONDS = 30

const DAY = 86_400
const SIGNS_FOR_SECONDS = 90 * DAY
/** A service that checks tokens by the published keys has this long to fetch a new one before it signs. */
const PUBLISHED_BEFORE_SECONDS = DAY
/** Changes by another node are seen after this time. */
const RELOAD_MILLISECONDS = 5_000

type Key = Awaited<ReturnType<typeof importJWK>>
type Newest = Pick<SigningKey, 'signsFrom'>

/** SQL, as all of the transaction under the lock that lets one node add a key. */
const newestKey = `
  select signs_from as "signsFrom" from signing_key where expires_at is null or expires_at > $1
  order by signs_from desc limit 1`
const add = `
  insert into signing_key (kid, public_jwk, private_sealed, created_at, signs_from)
  values ($1, $2, $3, $4, $5)`
const expireOthers = `
  update signing_key set expires_at = $2 where kid <> $1 and expires_at is null`

const placeOf = (kid: string) => ({ table: 'signing_key', column: 'private_sealed', row: kid })

export class SigningKeys {
  readonly #db: Database
  readonly #vault: Vault
  readonly #clock: Clock
  readonly #imported = new Map<string, Promise<Key>>()
  #loaded: { readonly rows: readonly SigningKey[]; readonly at: number } | undefined

  constructor(db: Database, vault: Vault, clock: Clock) {
    this.#db = db
    this.#vault = vault
    this.#clock = clock
  }

  /** The key that signs now; makes one if there is none. */
  async current(): Promise<{ readonly kid: string; readonly key: Key }> {
    if (!(await this.#signing())) {
      const now = this.#clock()
      await this.#create(now, (newest) => newest !== undefined && newest.signsFrom <= now)
    }
    const row = await this.#signing()
    if (!row) throw new Error('there is no key to sign with')
    return { kid: row.kid, key: await this.#once(`private ${row.kid}`, () => this.#private(row)) }
  }

  /** Verifies only with our own keys, even if a token names another key. */
  async find(kid: string): Promise<Key | undefined> {
    const row = (await this.#rows()).find((each) => each.kid === kid)
    if (!row) return undefined
    return await this.#once(
      `public ${kid}`,
      async () => await importJWK({ ...row.publicJwk }, ALGORITHM),
    )
  }

  /** As RFC 7517 has them. */
  async jwks() {
    const keys = (await this.#rows()).map(({ kid, publicJwk: { kty, crv, x } }) => {
      return { kty, crv, x, kid, alg: ALGORITHM, use: 'sig' }
    })
    return { keys }
  }

  /** Call it regularly: it publishes the next key in time, and deletes expired ones. */
  async rotate(): Promise<void> {
    const now = this.#clock()
    const next = secondsAfter(now, PUBLISHED_BEFORE_SECONDS)
    const isFresh = (key: Newest | undefined) =>
      key !== undefined && secondsAfter(key.signsFrom, SIGNS_FOR_SECONDS) > next
    const [newest] = await this.#rows()
    if (newest && !isFresh(newest)) await this.#create(next, isFresh)
    await this.#db.records((em) => em.nativeDelete(SigningKey, { expiresAt: { $lte: now } }))
  }

  /** For emergencies: voids every token signed with this key, on other nodes after a few seconds. */
  async drop(kid: string): Promise<void> {
    await this.#db.records((em) => em.nativeDelete(SigningKey, { kid }))
    this.#loaded = undefined
  }

  async #signing(): Promise<SigningKey | undefined> {
    const now = this.#clock()
    return (await this.#rows()).find(({ signsFrom }) => signsFrom <= now)
  }

  async #rows(): Promise<readonly SigningKey[]> {
    const now = this.#clock()
    const age = this.#loaded ? now.getTime() - this.#loaded.at : Number.POSITIVE_INFINITY
    if (this.#loaded && age >= 0 && age < RELOAD_MILLISECONDS) return this.#loaded.rows
    const published = { $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] }
    const newestFirst = { orderBy: { signsFrom: 'desc' } } as const
    const rows = await this.#db.records((em) => em.find(SigningKey, published, newestFirst))
    this.#loaded = { rows, at: now.getTime() }
    return rows
  }

  #once(name: string, load: () => Promise<Key>): Promise<Key> {
    const known = this.#imported.get(name)
    if (known) return known
    const key = load()
    this.#imported.set(name, key)
    key.catch(() => this.#imported.delete(name))
    return key
  }

  async #private({ kid, privateSealed }: SigningKey): Promise<Key> {
    const jwk = JSON.parse((await this.#vault.open(placeOf(kid), privateSealed)).toString())
    return await importJWK(jwk, ALGORITHM)
  }

  /** Adds a key unless another node just did; the earlier ones stay for as long as their tokens live. */
  async #create(signsFrom: Date, unless: (newest: Newest | undefined) => boolean): Promise<void> {
    const pair = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
    const [publicJwk, privateJwk] = await Promise.all([
      exportJWK(pair.publicKey),
      exportJWK(pair.privateKey),
    ])
    const kid = await calculateJwkThumbprint(publicJwk)
    const secret = Buffer.from(JSON.stringify(privateJwk))
    const sealed = await this.#vault.seal('signing', placeOf(kid), secret)
    await this.#db.transaction(async (tx) => {
      await tx.query("select pg_advisory_xact_lock(hashtext('signing_key'))")
      const now = this.#clock()
      const [newest] = await tx.query<Newest>(newestKey, [now])
      if (unless(newest)) return
      await tx.query(add, [kid, publicJwk, sealed, now, signsFrom])
      const last = secondsAfter(signsFrom, LIFETIME_SECONDS + LEEWAY_SECONDS)
      await tx.query(expireOthers, [kid, last])
    })
    this.#loaded = undefined
  }
}

/** For emergencies: voids every token, on all nodes within seconds. Sign-ins stay, and refresh their tokens. */
export async function dropSigningKeys(db: Database): Promise<number> {
  return await db.records((em) =>
    em.transactional(async (tx) => {
      const dropped = await tx.nativeDelete(SigningKey, {})
      await noteIn(tx, { after: { dropped } })
      return dropped
    }),
  )
}
