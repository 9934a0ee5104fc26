/** The users who run the service, named by their phones: they see its incidents beside their own. */
import { phoneIndex } from '../accounts/phone.ts'
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'
import { SERVICE } from './rules.ts'

export class Operators {
  readonly #db: Database
  readonly #indexes: readonly Buffer[]

  constructor(db: Database, vault: Pick<Vault, 'derive'>, phones: readonly string[]) {
    this.#db = db
    this.#indexes = phones.map(phoneIndex(vault))
  }

  /** Read each time, because an operator may sign in for the first time at any moment. */
  async ids(): Promise<number[]> {
    if (this.#indexes.length === 0) return []
    const rows = await this.#db.query<{ id: number }>(
      'select id from app_user where phone_index = any($1) and erasing_at is null',
      [this.#indexes],
    )
    return rows.map(({ id }) => id)
  }

  async has(userId: number): Promise<boolean> {
    return (await this.ids()).includes(userId)
  }

  /** The owners whose incidents this user may see. */
  async ownersFor(userId: number): Promise<number[]> {
    return (await this.has(userId)) ? [userId, SERVICE] : [userId]
  }
}
