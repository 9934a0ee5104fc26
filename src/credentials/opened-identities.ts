/** What is known of accounts, kept open for a while: lists are searched and sorted by what is sealed at rest. */
import { LRUCache } from 'lru-cache'
import type { AccountIdentity } from '../../actors/ports/platform.ts'
import type { Vault } from '../security/vault.ts'
import { type IdentityRow, openIdentity } from './identity.ts'

/** Some 300 bytes each. */
const MOST = 50_000
const LIVES_MS = 600_000

interface Opened {
  readonly sealed: Buffer
  readonly identity: AccountIdentity
}

export class OpenedIdentities {
  readonly #vault: Pick<Vault, 'open'>
  readonly #opened = new LRUCache<number, Opened>({ max: MOST, ttl: LIVES_MS })

  constructor(vault: Pick<Vault, 'open'>) {
    this.#vault = vault
  }

  /** Undefined once it was wiped. What was sealed anew is opened anew. */
  async of(row: IdentityRow): Promise<AccountIdentity | undefined> {
    const { id, account, account_sealed: sealed } = row
    if (account !== null || sealed === null) {
      this.#opened.delete(id)
      return openIdentity(this.#vault, row)
    }
    const known = this.#opened.get(id)
    if (known?.sealed.equals(sealed)) return known.identity
    const identity = await openIdentity(this.#vault, row)
    if (identity) this.#opened.set(id, { sealed, identity })
    return identity
  }
}
