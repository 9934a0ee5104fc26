/** Views of the list of accounts, kept by a user under a name: what is searched and filtered, and the order. */
import { failed } from '../../machines/model/failure.ts'
import { holdUser } from '../accounts/users.ts'
import { noteChange } from '../audit/log.ts'
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'

const MOST_VIEWS = 50

interface View {
  readonly name: string
  /** The parameters as in the address of the list. */
  readonly query: Readonly<Record<string, string>>
}

export interface SavedView extends View {
  readonly id: number
}

const placeOf = (userId: number) => ({ table: 'saved_view', column: 'sealed', row: userId })

export class SavedViews {
  readonly #db: Database
  readonly #vault: Vault

  constructor(db: Database, vault: Vault) {
    this.#db = db
    this.#vault = vault
  }

  /** In the order in which they were made. */
  async list(userId: number): Promise<SavedView[]> {
    const rows = await this.#db.query<{ id: number; sealed: Buffer }>(
      'select id, sealed from saved_view where user_id = $1 order by id',
      [userId],
    )
    return Promise.all(
      rows.map(async ({ id, sealed }) => {
        const text = (await this.#vault.open(placeOf(userId), sealed)).toString()
        return { id, ...(JSON.parse(text) as View) }
      }),
    )
  }

  /** Rejects with `conflict` where there are too many. */
  async add(userId: number, { name, query }: View): Promise<SavedView> {
    const text = Buffer.from(JSON.stringify({ name, query }))
    const sealed = await this.#vault.seal(`user:${userId}`, placeOf(userId), text)
    const id = await this.#db.transaction(async (tx) => {
      await holdUser(tx, userId)
      const [row] = await tx.query<{ id: number }>(
        `insert into saved_view (user_id, sealed)
         select $1, $2 where (select count(*) from saved_view where user_id = $1) < ${MOST_VIEWS}
         returning id`,
        [userId, sealed],
      )
      if (row) await noteChange(tx, { target: ['view', row.id] })
      return row?.id
    })
    if (id !== undefined) return { id, name, query }
    const why = { reason: 'views_full', params: { count: MOST_VIEWS } } as const
    throw failed('conflict', `there are ${MOST_VIEWS} views already`, why)
  }

  /** Rejects with `not_found`, also for a view of another user. */
  async remove(userId: number, id: number): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const removed = await tx.query(
        'delete from saved_view where user_id = $1 and id = $2 returning id',
        [userId, id],
      )
      if (removed.length === 0) throw failed('not_found')
      await noteChange(tx)
    })
  }
}
