/** The server's half of the second factor: it proves that the client knows a password without seeing it. */
import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { Long, type tl } from '@mtcute/core'
import { PRIME, power, secretExponent, sha256, toBytes, toNumber } from './crypto.ts'

const G = 3n
const [primeBytes, gBytes] = [toBytes(PRIME), toBytes(G)]
const multiplier = toNumber(sha256(primeBytes, gBytes))
const salted = (data: Uint8Array, salt: Uint8Array) => sha256(salt, data, salt)

export class SecondFactor {
  readonly #salts = [randomBytes(32), randomBytes(16)] as const
  readonly #verifier: bigint
  readonly #secret = secretExponent()
  readonly #offer: Buffer
  readonly #hint: string | undefined

  constructor(password: string, hint?: string) {
    const [first, second] = this.#salts
    const once = salted(salted(Buffer.from(password), first), second)
    const stretched = pbkdf2Sync(once, first, 100_000, 64, 'sha512')
    this.#verifier = power(G, toNumber(salted(stretched, second)), PRIME)
    this.#offer = toBytes((multiplier * this.#verifier + power(G, this.#secret, PRIME)) % PRIME)
    this.#hint = hint
  }

  get account(): tl.account.RawPassword {
    const [salt1, salt2] = this.#salts
    const algorithm: tl.TypePasswordKdfAlgo = {
      _: 'passwordKdfAlgoSHA256SHA256PBKDF2HMACSHA512iter100000SHA256ModPow',
      salt1,
      salt2,
      g: Number(G),
      p: primeBytes,
    }
    return {
      _: 'account.password',
      hasPassword: true,
      currentAlgo: algorithm,
      srpB: this.#offer,
      srpId: Long.ONE,
      ...(this.#hint !== undefined && { hint: this.#hint }),
      newAlgo: algorithm,
      newSecureAlgo: { _: 'securePasswordKdfAlgoUnknown' },
      secureRandom: randomBytes(16),
    }
  }

  accepts(check: tl.TypeInputCheckPasswordSRP): boolean {
    if (check._ !== 'inputCheckPasswordSRP') return false
    const [salt1, salt2] = this.#salts
    const theirs = Buffer.from(check.A)
    const scramble = toNumber(sha256(theirs, this.#offer))
    const base = (toNumber(theirs) * power(this.#verifier, scramble, PRIME)) % PRIME
    const shared = sha256(toBytes(power(base, this.#secret, PRIME)))
    const mixed = Buffer.from(sha256(primeBytes))
    const other = sha256(gBytes)
    for (let i = 0; i < mixed.length; i++) mixed[i] = (mixed[i] ?? 0) ^ (other[i] ?? 0)
    const proof = sha256(mixed, sha256(salt1), sha256(salt2), theirs, this.#offer, shared)
    return proof.equals(Buffer.from(check.M1))
  }
}
