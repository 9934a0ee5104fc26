/** Proves by SCRAM (RFC 5802, RFC 7677) that both sides know the password; the salted key is computed once, off the event loop, and kept in the secrets. */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Json } from '../../../../machines/model/protocol.ts'
import { fieldsOf } from '../../kit/platform.ts'
import { RecentMap } from '../../kit/recent-map.ts'

/** The server did not show that it knows the password, or asked for something that no server asks for. */
export class ServerUnproven extends Error {
  override readonly name = 'ServerUnproven'
}

/** A server with more iterations would only keep this machine busy. */
const MOST_ITERATIONS = 1_000_000
/** The least that the standard allows. */
const LEAST_ITERATIONS = 4_096

/** Without channel binding, and as oneself. */
const header = 'n,,'

export class Scram {
  readonly #digest: Digest
  readonly #keys: Keys
  readonly #nonce: string
  #first = ''
  #expected: Buffer | undefined

  constructor(digest: Digest, keys: Keys, nonce = randomBytes(18).toString('base64')) {
    this.#digest = digest
    this.#keys = keys
    this.#nonce = nonce
  }

  hello(username: string): string {
    const name = username.replaceAll('=', '=3D').replaceAll(',', '=2C')
    this.#first = `n=${name},r=${this.#nonce}`
    return header + this.#first
  }

  /** Rejects with `ServerUnproven` where the server does not keep to the standard. */
  async prove(challenge: string, password: string): Promise<string> {
    const { nonce, salt, iterations } = this.#read(challenge)
    const salted = await this.#keys.of(password, { digest: this.#digest, salt, iterations })
    const clientKey = this.#hmac(salted, 'Client Key')
    const storedKey = createHash(this.#digest).update(clientKey).digest()
    const final = `c=${Buffer.from(header).toString('base64')},r=${nonce}`
    const said = `${this.#first},${challenge},${final}`
    const signature = this.#hmac(storedKey, said)
    this.#expected = this.#hmac(this.#hmac(salted, 'Server Key'), said)
    const proof = clientKey.map((byte, at) => byte ^ (signature[at] ?? 0))
    return `${final},p=${Buffer.from(proof).toString('base64')}`
  }

  /** Throws `ServerUnproven` unless the server's signature proves that it knows the password too. */
  verify(last: string): void {
    const given = Buffer.from(partsOf(last).get('v') ?? '', 'base64')
    const expected = this.#expected
    if (!expected || given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw new ServerUnproven('The server did not show that it knows the password')
    }
  }

  #read(challenge: string) {
    const fields = partsOf(challenge)
    const nonce = fields.get('r') ?? ''
    const salt = Buffer.from(fields.get('s') ?? '', 'base64')
    const iterations = Number(fields.get('i'))
    const isSane =
      Number.isInteger(iterations) &&
      iterations >= LEAST_ITERATIONS &&
      iterations <= MOST_ITERATIONS
    const isAnswer = nonce.startsWith(this.#nonce) && nonce.length > this.#nonce.length
    if (!isAnswer || salt.length === 0 || !isSane || fields.has('m')) {
      throw new ServerUnproven('The server asked for a login that the standard does not know')
    }
    return { nonce, salt, iterations }
  }

  #hmac(key: Buffer, text: string): Buffer {
    return createHmac(this.#digest, key).update(text).digest()
  }
}

function partsOf(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(',').map((field) => [field.slice(0, 1), field.slice(2)]))
}

export type Digest = 'sha1' | 'sha256'

export interface Salt {
  readonly digest: Digest
  readonly salt: Buffer
  readonly iterations: number
}

type Derive = (password: string, salt: Salt) => Promise<Buffer>

interface Keys {
  of: Derive
}

const hashing = promisify(pbkdf2)
const lengths: Readonly<Record<Digest, number>> = { sha1: 20, sha256: 32 }

const derive: Derive = (password, { digest, salt, iterations }) =>
  hashing(password, salt, iterations, lengths[digest], digest)

const MOST_REMEMBERED = 2_000

export class SaltedKeys {
  readonly #derive: Derive
  readonly #known = new RecentMap<string, Promise<Buffer>>(MOST_REMEMBERED)

  /** `compute`: what takes so long. */
  constructor(compute: Derive = derive) {
    this.#derive = compute
  }

  of(password: string, salt: Salt): Promise<Buffer> {
    const { digest, salt: bytes, iterations } = salt
    const facts = JSON.stringify([digest, bytes.toString('base64'), iterations, password])
    const name = createHash('sha256').update(facts).digest('base64')
    const known = this.#known.get(name)
    if (known) return known
    const key = this.#derive(prepared(password), salt)
    this.#known.set(name, key)
    key.catch(() => this.#known.delete(name))
    return key
  }
}

/** A salted key as it is kept in the secrets. It replaces the password at logins with the same salt. */
export interface StoredKey {
  readonly digest: Digest
  /** This and the two below are in base64. */
  readonly salt: string
  readonly iterations: number
  /** SHA-256 of the password that the key was derived from. */
  readonly passwordHash: string
  readonly key: string
}

/** `undefined` when what was stored is no such key. */
export function parseStoredKey(stored: Json | undefined): StoredKey | undefined {
  const { digest, salt, iterations, passwordHash, key } = fieldsOf(stored)
  if (digest !== 'sha1' && digest !== 'sha256') return undefined
  if (typeof salt !== 'string' || typeof iterations !== 'number') return undefined
  if (typeof passwordHash !== 'string' || typeof key !== 'string') return undefined
  if (Buffer.from(key, 'base64').length !== lengths[digest]) return undefined
  return { digest, salt, iterations, passwordHash, key }
}

interface Use {
  readonly key: StoredKey
  readonly password: string
  readonly isStored: boolean
}

/** The salted key of one account: the stored one if it fits what the server asks, and otherwise one derived anew. */
export class AccountKey implements Keys {
  readonly #keys: Keys
  #stored: StoredKey | undefined
  readonly #derived: ((key: StoredKey) => void) | undefined
  #used: Use | undefined

  /** `derived` gets each key that the server has shown to be right and that is worth to be stored. */
  constructor(keys: Keys, stored?: StoredKey, derived?: (key: StoredKey) => void) {
    this.#keys = keys
    this.#stored = stored
    this.#derived = derived
  }

  async of(password: string, salt: Salt): Promise<Buffer> {
    const facts = {
      digest: salt.digest,
      salt: salt.salt.toString('base64'),
      iterations: salt.iterations,
      passwordHash: createHash('sha256').update(password).digest('base64'),
    }
    const isStored = this.#stored !== undefined && isSame(this.#stored, facts)
    const derive = async () => (await this.#keys.of(password, salt)).toString('base64')
    const key = isStored && this.#stored ? this.#stored : { ...facts, key: await derive() }
    this.#used = { key, password, isStored }
    return Buffer.from(key.key, 'base64')
  }

  /** To be called once the server has taken the key and has shown that it knows the password. */
  proven(): void {
    const { key, isStored = true } = this.#used ?? {}
    this.#used = undefined
    if (!key || isStored) return
    const before = this.#stored
    this.#stored = key
    // Some servers make a new salt for each login: a key that differs in nothing else will not be asked for again.
    if (!before || !isSame(before, { ...key, salt: before.salt })) this.#derived?.(key)
  }

  /**
   * To be called once a login has failed. Resolves with true if the stored key was used and is not that of the password:
   * then the next login derives it.
   */
  async isWrong(): Promise<boolean> {
    const used = this.#used
    this.#used = undefined
    if (!used?.isStored) return false
    const { digest, salt, iterations, key } = used.key
    const asked = { digest, salt: Buffer.from(salt, 'base64'), iterations }
    const right = await this.#keys.of(used.password, asked)
    if (right.toString('base64') === key) return false
    this.#stored = undefined
    return true
  }
}

const isSame = (a: Omit<StoredKey, 'key'>, b: Omit<StoredKey, 'key'>) =>
  a.digest === b.digest &&
  a.salt === b.salt &&
  a.iterations === b.iterations &&
  a.passwordHash === b.passwordHash

/** SASLprep (RFC 4013), without its refusals: servers do not accept passwords that it forbids. */
function prepared(password: string): string {
  const spaces = /[\u00A0\u1680\u2000-\u200B\u202F\u205F\u3000]/g
  const nothing =
    /\u00AD|\u034F|\u1806|[\u180B-\u180D]|\u200C|\u200D|\u2060|[\uFE00-\uFE0F]|\uFEFF/g
  return password.replace(spaces, ' ').replace(nothing, '').normalize('NFKC')
}
