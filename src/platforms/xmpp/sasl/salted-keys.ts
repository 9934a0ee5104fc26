/** Passwords made slow to guess (RFC 5802), computed beside the event loop and remembered for the next login. */
import { createHash, pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'
import { RecentMap } from '../../kit/recent-map.ts'

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

/** SASLprep (RFC 4013), without its refusals: what it forbids, no server has accepted as a password. */
function prepared(password: string): string {
  const spaces = /[\u00A0\u1680\u2000-\u200B\u202F\u205F\u3000]/g
  const nothing =
    /\u00AD|\u034F|\u1806|[\u180B-\u180D]|\u200C|\u200D|\u2060|[\uFE00-\uFE0F]|\uFEFF/g
  return password.replace(spaces, ' ').replace(nothing, '').normalize('NFKC')
}
