/** Users: known by their phone, which is stored sealed and found by a keyed hash. */
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'
import { beingErased } from './hold.ts'

export interface User {
  readonly id: number
  readonly phone: string
  readonly createdAt: Date
}

interface Row {
  readonly id: number
  readonly phone_sealed: Buffer
  readonly created_at: Date
  readonly erasing_at: Date | null
}

const columns = 'id, phone_sealed, created_at, erasing_at'
const byPhone = `select ${columns} from app_user where phone_index = $1`
const nextId = `select nextval('app_user_id_seq') as id`
const add = `
  insert into app_user (id, phone_index, phone_sealed, created_at) values ($1, $2, $3, $4)
  on conflict (phone_index) do nothing`

const placeOf = (id: number) => ({ table: 'app_user', column: 'phone_sealed', row: id })

export function createUsers(db: Database, vault: Vault) {
  const toUser = async ({ id, phone_sealed, created_at }: Row): Promise<User> => ({
    id,
    phone: (await vault.open(placeOf(id), phone_sealed)).toString(),
    createdAt: created_at,
  })

  return {
    /** The first sign-in with a phone creates its account. */
    async findOrCreate(phone: string, index: Buffer, now: Date): Promise<User> {
      for (;;) {
        const [row] = await db.query<Row>(byPhone, [index])
        if (row?.erasing_at) throw beingErased()
        if (row) return toUser(row)
        const [next] = await db.query<{ id: number }>(nextId)
        const id = next!.id
        const sealed = await vault.seal(`user:${id}`, placeOf(id), Buffer.from(phone))
        await db.query(add, [id, index, sealed, now])
      }
    },

    async get(id: number): Promise<User> {
      const [row] = await db.query<Row>(`select ${columns} from app_user where id = $1`, [id])
      if (!row) throw failed('unauthorized')
      return toUser(row)
    },
  }
}
