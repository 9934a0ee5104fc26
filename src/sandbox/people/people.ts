/** The people of one network: registered, listed, changed, shut out by one another; and the stories they see. */
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'
import type { World } from '../../platforms/sandbox/operations.ts'
import { type SeenStory, storiesFor } from '../stories/stories.ts'
import { block } from './blocks.ts'
import type { Faults } from './faults.ts'
import { phoneNumber } from './phone.ts'
import { hashPassword } from './secrets.ts'
import { assertFreeUsernames, takenName } from './usernames.ts'

export interface NewPerson {
  /** One is made up when none is given. */
  readonly phone?: string
  readonly first_name: string
  readonly last_name?: string
  readonly username?: string
  readonly language_code?: string
  readonly password?: string
  readonly password_hint?: string
}

export interface PersonRecord {
  readonly id: number
  readonly phone: string
  readonly username: string | null
  readonly first_name: string
  readonly last_name: string | null
  readonly language_code: string | null
  readonly has_password: boolean
  readonly deactivated: boolean
  readonly banned: boolean
  /** How many devices are linked. */
  readonly sessions: number
  readonly faults: Faults
  readonly created_at: Date
}

export interface PersonChange {
  readonly first_name?: string
  readonly last_name?: string | null
  readonly username?: string | null
  readonly deactivated?: boolean
}

const columns = `id, phone, username, first_name, last_name, language_code,
  password_hash is not null as has_password, deactivated, banned, sessions, faults, created_at`

/** Numbers that no operator assigns. */
const madeUpPhone = `'+8889' || lpad(currval('sandbox_person_id')::text, 9, '0')`

type Surroundings = Pick<World, 'network' | 'room' | 'db' | 'wake' | 'now'>

export class People {
  readonly #db: Queryable
  readonly #world: Surroundings

  constructor(world: Surroundings) {
    this.#db = world.db
    this.#world = world
  }

  /** All of them or none. */
  async create(people: readonly NewPerson[]): Promise<PersonRecord[]> {
    await assertFreeUsernames(this.#world, people)
    const rows = await Promise.all(people.map(rowOf))
    const { db, room, network } = this.#world
    const insert = async (tx: Queryable) => {
      await room.assertForPeople(tx, network, rows.length)
      return tx.query<PersonRecord>(
        `insert into sandbox_person (id, phone, username, first_name, last_name, language_code,
           password_hash, password_hint, user_id)
         select nextval('sandbox_person_id'), coalesce(phone, ${madeUpPhone}), username, first_name,
           last_name, language_code, password_hash, password_hint, $2
         from jsonb_to_recordset($1::jsonb) as p (phone text, username text, first_name text,
           last_name text, language_code text, password_hash text, password_hint text)
         returning ${columns}`,
        [JSON.stringify(rows), network],
      )
    }
    return db.transaction(insert).catch(takenName)
  }

  async get(id: number): Promise<PersonRecord> {
    const [row] = await this.#db.query<PersonRecord>(
      `select ${columns} from sandbox_person where id = $1 and user_id = $2`,
      [id, this.#world.network],
    )
    if (!row) throw failed('not_found', '')
    return row
  }

  list({ limit, before }: { limit: number; before?: number }): Promise<PersonRecord[]> {
    return this.#db.query<PersonRecord>(
      `select ${columns} from sandbox_person
       where user_id = $3 and ($2::bigint is null or id < $2)
       order by id desc limit $1`,
      [limit, before ?? null, this.#world.network],
    )
  }

  async change(id: number, change: PersonChange): Promise<PersonRecord> {
    await assertFreeUsernames(this.#world, [change], id)
    const [row] = await this.#db
      .query<PersonRecord>(
        `update sandbox_person p
         set (first_name, last_name, username, deactivated) =
           (select n.first_name, n.last_name, n.username, n.deactivated
            from jsonb_populate_record(p, $2::jsonb) n)
         where id = $1 and user_id = $3
         returning ${columns}`,
        [id, JSON.stringify(change), this.#world.network],
      )
      .catch(takenName)
    if (!row) throw failed('not_found', '')
    return row
  }

  /** Newest first. */
  async stories(person: number, limit: number): Promise<SeenStory[]> {
    await this.get(person)
    return storiesFor(this.#world, person, limit)
  }

  /** Whoever is blocked cannot write to the one who blocked them. */
  async block(person: number, blocked: number, isBlocked: boolean): Promise<void> {
    await Promise.all([this.get(person), this.get(blocked)])
    await block(this.#world, person, blocked, isBlocked)
  }
}

async function rowOf({ phone, password, ...person }: NewPerson) {
  return {
    ...person,
    ...(phone !== undefined && { phone: phoneNumber(phone) }),
    ...(password !== undefined && { password_hash: await hashPassword(password) }),
  }
}
