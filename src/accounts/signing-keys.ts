/** Access tokens, short-lived JWTs that name a user and a session; and the keys that sign them: sealed in the database, replaced every ninety days. */

import { randomUUID } from 'node:crypto'
import {
  calculateJwkThumbprint,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
} from 'jose'
import { failed } from '../../machines/model/failure.ts'
import { noteIn } from '../audit/log.ts'
import type { Database } from '../database/database.ts'
import { SigningKey } from '../database/entities.ts'
import type { Vault } from '../security/vault.ts'
import { type Clock, secondsAfter } from './clock.ts'

const ALGORITHM = 'EdDSA'
/** How long an access token is valid. */
export const LIFETIME_SECONDS = 600
/** How far clocks may differ. */
const LEEWAY_SECONDS = 30

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
      await this.#create(this.#clock(), (newest) => newest !== undefined && this.#isMade(newest))
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

  /** Where no key signs yet, a node whose clock is behind takes one that another node has just made. */
  async #signing(): Promise<SigningKey | undefined> {
    const rows = await this.#rows()
    const now = this.#clock()
    return rows.find(({ signsFrom }) => signsFrom <= now) ?? rows.find((key) => this.#isMade(key))
  }

  #isMade({ signsFrom }: Newest): boolean {
    return signsFrom <= secondsAfter(this.#clock(), LEEWAY_SECONDS)
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

interface AccessClaims {
  readonly userId: number
  readonly sessionId: number
}

export type Signer = (claims: AccessClaims) => Promise<string>

const TYPE = 'at+jwt'
const LONGEST = 4_096
/**
 * Stricter than the decoder, which ignores padding and unused bits, so that each token has exactly one spelling. The
 * last of the 86 characters of 64 bytes has four unused bits.
 */
const form = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/
const requiredClaims = ['sub', 'sid', 'jti', 'iat', 'nbf', 'exp']

export function createAccessTokens(keys: SigningKeys, issuer: string, clock: Clock) {
  async function keyOf({ kid }: { readonly kid?: string }) {
    const key = kid === undefined ? undefined : await keys.find(kid)
    if (!key) throw new errors.JWKSNoMatchingKey()
    return key
  }

  return {
    /** Signs without asking the database again. */
    async signer(): Promise<Signer> {
      const { kid, key } = await keys.current()
      return async ({ userId, sessionId }) => {
        const now = clock()
        return await new SignJWT({ sid: `${sessionId}` })
          .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
          .setIssuer(issuer)
          .setAudience(issuer)
          .setSubject(`${userId}`)
          .setJti(randomUUID())
          .setIssuedAt(now)
          .setNotBefore(now)
          .setExpirationTime(secondsAfter(now, LIFETIME_SECONDS))
          .sign(key)
      }
    },

    /** Does not check the session, which may have ended since. */
    async verify(token: string): Promise<AccessClaims> {
      if (token.length > LONGEST || !form.test(token)) throw invalid()
      try {
        const { payload } = await jwtVerify<{ readonly sid: unknown }>(token, keyOf, {
          algorithms: [ALGORITHM],
          typ: TYPE,
          issuer,
          audience: issuer,
          clockTolerance: LEEWAY_SECONDS,
          requiredClaims,
          currentDate: clock(),
        })
        return { userId: idOf(payload.sub), sessionId: idOf(payload.sid) }
      } catch (error) {
        throw refusal(error)
      }
    },
  }
}

/** Errors of jose mean an invalid token; any other error, such as a lost database, does not. */
function refusal(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) {
    return failed('unauthorized', 'the access token has expired')
  }
  return error instanceof errors.JOSEError ? invalid() : error
}

function idOf(claim: unknown): number {
  const id = Number(claim)
  if (!Number.isSafeInteger(id)) throw new errors.JWTInvalid()
  return id
}

const invalid = () => failed('unauthorized', 'the access token is not valid')
