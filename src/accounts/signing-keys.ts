/** The keys that sign access tokens: made here, sealed in the database, replaced every ninety days. */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from 'jose'
import type { Database } from '../database/database.ts'
import { SigningKey } from '../database/entities/accounts.ts'
import type { Vault } from '../security/vault.ts'
import { type Clock, secondsAfter } from './clock.ts'

export const ALGORITHM = 'EdDSA'
/** How long an access token is valid. */
export const LIFETIME_SECONDS = 600
/** How far clocks may differ. */
export const LEEWAY_SECONDS = 30

const DAY = 86_400
const SIGNS_FOR_SECONDS = 90 * DAY
/** Whoever checks tokens by the published keys has this long to fetch a new one before it signs. */
const PUBLISHED_BEFORE_SECONDS = DAY
/** What another node changed is seen after so long. */
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

export function createSigningKeys(db: Database, vault: Vault, clock: Clock) {
  const imported = new Map<string, Promise<Key>>()
  let loaded: { readonly rows: readonly SigningKey[]; readonly at: number } | undefined

  async function rows(): Promise<readonly SigningKey[]> {
    const now = clock()
    const age = loaded ? now.getTime() - loaded.at : Number.POSITIVE_INFINITY
    if (loaded && age >= 0 && age < RELOAD_MILLISECONDS) return loaded.rows
    const published = { $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] }
    const newestFirst = { orderBy: { signsFrom: 'desc' } } as const
    const rows = await db.records((em) => em.find(SigningKey, published, newestFirst))
    loaded = { rows, at: now.getTime() }
    return rows
  }

  function once(name: string, load: () => Promise<Key>): Promise<Key> {
    const known = imported.get(name)
    if (known) return known
    const key = load()
    imported.set(name, key)
    key.catch(() => imported.delete(name))
    return key
  }

  async function privateKey({ kid, privateSealed }: SigningKey): Promise<Key> {
    const jwk = JSON.parse((await vault.open(placeOf(kid), privateSealed)).toString())
    return await importJWK(jwk, ALGORITHM)
  }

  /** Adds a key unless another node just did; the ones before it stay for as long as their tokens live. */
  async function create(signsFrom: Date, unless: (newest: Newest | undefined) => boolean) {
    const pair = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
    const [publicJwk, privateJwk] = await Promise.all([
      exportJWK(pair.publicKey),
      exportJWK(pair.privateKey),
    ])
    const kid = await calculateJwkThumbprint(publicJwk)
    const sealed = await vault.seal(
      'signing',
      placeOf(kid),
      Buffer.from(JSON.stringify(privateJwk)),
    )
    await db.transaction(async (tx) => {
      await tx.query("select pg_advisory_xact_lock(hashtext('signing_key'))")
      const now = clock()
      const [newest] = await tx.query<Newest>(newestKey, [now])
      if (unless(newest)) return
      await tx.query(add, [kid, publicJwk, sealed, now, signsFrom])
      const last = secondsAfter(signsFrom, LIFETIME_SECONDS + LEEWAY_SECONDS)
      await tx.query(expireOthers, [kid, last])
    })
    loaded = undefined
  }

  const signing = async () => {
    const now = clock()
    return (await rows()).find(({ signsFrom }) => signsFrom <= now)
  }

  return {
    async current(): Promise<{ readonly kid: string; readonly key: Key }> {
      if (!(await signing())) {
        const now = clock()
        await create(now, (newest) => newest !== undefined && newest.signsFrom <= now)
      }
      const row = await signing()
      if (!row) throw new Error('there is no key to sign with')
      return { kid: row.kid, key: await once(`private ${row.kid}`, () => privateKey(row)) }
    },

    /** Only keys of our own are ever used, whatever a token says of its key. */
    async find(kid: string): Promise<Key | undefined> {
      const row = (await rows()).find((each) => each.kid === kid)
      if (!row) return undefined
      return await once(
        `public ${kid}`,
        async () => await importJWK({ ...row.publicJwk }, ALGORITHM),
      )
    },

    /** As RFC 7517 has them. */
    async jwks() {
      const keys = (await rows()).map(({ kid, publicJwk: { kty, crv, x } }) => {
        return { kty, crv, x, kid, alg: ALGORITHM, use: 'sig' }
      })
      return { keys }
    },

    /** To be called now and then: publishes the next key in time and forgets those nobody needs. */
    async rotate(): Promise<void> {
      const now = clock()
      const next = secondsAfter(now, PUBLISHED_BEFORE_SECONDS)
      const isFresh = (key: Newest | undefined) =>
        key !== undefined && secondsAfter(key.signsFrom, SIGNS_FOR_SECONDS) > next
      const [newest] = await rows()
      if (newest && !isFresh(newest)) await create(next, isFresh)
      await db.records((em) => em.nativeDelete(SigningKey, { expiresAt: { $lte: now } }))
    },

    /** In an emergency: every token signed with this key is void, on other nodes after a few seconds. */
    async drop(kid: string): Promise<void> {
      await db.records((em) => em.nativeDelete(SigningKey, { kid }))
      loaded = undefined
    },
  }
}

export type SigningKeys = ReturnType<typeof createSigningKeys>

/** In an emergency: every token signed so far is void, on all nodes within seconds; sign-ins live on and refresh. */
export async function dropSigningKeys(db: Database): Promise<number> {
  return await db.records((em) => em.nativeDelete(SigningKey, {}))
}
