/** Proves by SCRAM (RFC 5802, RFC 7677) that both sides know the password; the salted key is computed once, off the event loop. */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { RecentMap } from '../../kit/recent-map.ts'

/** The server did not show that it knows the password, or asked for something that no server asks for. */
export class ServerUnproven extends Error {
  override readonly name = 'ServerUnproven'
}

/** A server with more iterations would only keep this machine busy. */
const mostIterations = 1_000_000
/** The least that the standard allows. */
const leastIterations = 4_096

/** Without channel binding, and as oneself. */
const header = 'n,,'

export class Scram {
  readonly #digest: Digest
  readonly #keys: SaltedKeys
  readonly #nonce: string
  #first = ''
  #expected: Buffer | undefined

  constructor(digest: Digest, keys: SaltedKeys, nonce = randomBytes(18).toString('base64')) {
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
    const given = Buffer.from(fieldsOf(last).get('v') ?? '', 'base64')
    const expected = this.#expected
    if (!expected || given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw new ServerUnproven('The server did not show that it knows the password')
    }
  }

  #read(challenge: string) {
    const fields = fieldsOf(challenge)
    const nonce = fields.get('r') ?? ''
    const salt = Buffer.from(fields.get('s') ?? '', 'base64')
    const iterations = Number(fields.get('i'))
    const isSane =
      Number.isInteger(iterations) && iterations >= leastIterations && iterations <= mostIterations
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

function fieldsOf(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(',').map((field) => [field.slice(0, 1), field.slice(2)]))
}

export type Digest = 'sha1' | 'sha256'

export interface Salt {
  readonly digest: Digest
  readonly salt: Buffer
  readonly iterations: number
}

type Derive = (password: string, salt: Salt) => Promise<Buffer>

const hashing = promisify(pbkdf2)
const lengths: Readonly<Record<Digest, number>> = { sha1: 20, sha256: 32 }

const derive: Derive = (password, { digest, salt, iterations }) =>
  hashing(password, salt, iterations, lengths[digest], digest)

const mostRemembered = 2_000

export class SaltedKeys {
  readonly #derive: Derive
  readonly #known = new RecentMap<string, Promise<Buffer>>(mostRemembered)

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

/** SASLprep (RFC 4013), without its refusals: servers do not accept passwords that it forbids. */
function prepared(password: string): string {
  const spaces = /[\u00A0\u1680\u2000-\u200B\u202F\u205F\u3000]/g
  const nothing =
    /\u00AD|\u034F|\u1806|[\u180B-\u180D]|\u200C|\u200D|\u2060|[\uFE00-\uFE0F]|\uFEFF/g
  return password.replace(spaces, ' ').replace(nothing, '').normalize('NFKC')
}
