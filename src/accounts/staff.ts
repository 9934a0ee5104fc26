/** The people who run the service or help its users, named by their phones, and what they may read of users. */
import { failed } from '../../machines/model/failure.ts'
import { noteChange } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'
import { secondsAfter } from './clock.ts'
import { phoneIndex } from './phone.ts'
import { phonePlaceOf } from './users.ts'

/** Operators run the service. Support helps its users: it gives no orders to nodes and hears no alerts of the service. */
export type Role = 'operator' | 'support'

/** How long texts and phones of a user are shown after the reason was given. */
const UNMASKED_SECONDS = 900

const named = 'select id from app_user where phone_index = any($1) and erasing_at is null'
const isNamed = `${named} and id = $2`

/** The user is held: a row for one who is erased meanwhile would stay. */
const unmask = `
  insert into unmasking (staff_id, user_id, until)
  select $1, app_user.id, $3 from app_user where id = $2 and erasing_at is null for key share
  returning id`

const unmasked =
  'select max(until) as until from unmasking where staff_id = $1 and user_id = $2 and until > $3'

interface StaffOptions {
  readonly db: Database
  readonly vault: Pick<Vault, 'derive'>
  readonly phones: Readonly<Record<Role, readonly string[]>>
}

export class Staff {
  readonly #db: Database
  readonly #indexes: Readonly<Record<Role, readonly Buffer[]>>

  constructor({ db, vault, phones }: StaffOptions) {
    const indexOf = phoneIndex(vault)
    this.#db = db
    this.#indexes = {
      operator: phones.operator.map(indexOf),
      support: phones.support.map(indexOf),
    }
  }

  /** Read each time, because an operator may sign in for the first time at any moment. */
  async operators(): Promise<number[]> {
    const { operator } = this.#indexes
    if (operator.length === 0) return []
    return (await this.#db.query<{ id: number }>(named, [operator])).map(({ id }) => id)
  }

  /** Undefined for the users of the service. Who is named as both is an operator. */
  async roleOf(userId: number): Promise<Role | undefined> {
    for (const role of ['operator', 'support'] as const) {
      const indexes = this.#indexes[role]
      if (indexes.length === 0) continue
      if ((await this.#db.query(isNamed, [indexes, userId])).length > 0) return role
    }
    return undefined
  }

  /** Whether there is such a user, who is not being erased. */
  async knows(userId: number): Promise<boolean> {
    const found = await this.#db.query(
      'select from app_user where id = $1 and erasing_at is null',
      [userId],
    )
    return found.length > 0
  }

  async isOperator(userId: number): Promise<boolean> {
    return (await this.roleOf(userId)) === 'operator'
  }

  /** Until when this one of the staff sees texts and phones of the user; undefined: they are masked. */
  async unmaskedUntil(staffId: number, userId: number): Promise<Date | undefined> {
    const [found] = await this.#db.query<{ until: Date | null }>(unmasked, [
      staffId,
      userId,
      new Date(),
    ])
    return found?.until ?? undefined
  }

  /** Shows texts and phones of one user for a while. The user reads in the audit log who looked, and why. */
  async unmask(staffId: number, userId: number, reason: string): Promise<Date> {
    const until = secondsAfter(new Date(), UNMASKED_SECONDS)
    await this.#db.transaction(async (tx) => {
      const added = await tx.query(unmask, [staffId, userId, until])
      if (added.length === 0) throw failed('not_found')
      await noteChange(tx, { userId, target: ['user', userId], after: { reason, until } })
    })
    return until
  }
}

/** Removes those that are over; the audit log has them for longer. */
export async function forgetUnmaskings(db: Queryable): Promise<void> {
  await db.query("delete from unmasking where until < now() - interval '1 day'")
}

interface UserQuery {
  /** Who asks. */
  readonly staffId: number
  /** In E.164 form. */
  readonly phone?: string | undefined
  readonly userId?: number | undefined
  readonly credentialId?: number | undefined
  readonly apiKeyId?: number | undefined
  readonly before?: number | undefined
  readonly limit: number
}

export interface FoundUser {
  readonly id: number
  readonly phone: string
  readonly createdAt: Date
  readonly accounts: number
  /** Of those, how many are neither online nor connecting. */
  readonly accountsOut: number
  readonly apiKeys: number
  /** Until when who asks sees texts and phones; null: they are masked. */
  readonly unmaskedUntil: Date | null
  /** Null: they are not. */
  readonly suspendedAt: Date | null
  readonly suspendedReason: string | null
}

interface Row extends Omit<FoundUser, 'phone'> {
  readonly phoneSealed: Buffer
}

/** Counts are of the page alone: a count for each user of the service would read whole tables. */
const find = `
  with page as (
    select u.id, u.phone_sealed, u.created_at, u.suspended_at, u.suspended_reason from app_user u
     where u.erasing_at is null
       and ($1::bytea is null or u.phone_index = $1)
       and ($2::bigint is null or u.id = $2)
       and ($3::bigint is null or u.id = (select user_id from credential where id = $3))
       and ($4::bigint is null or u.id = (select user_id from api_key where id = $4))
       and ($5::bigint is null or u.id < $5)
     order by u.id desc limit $6
  )
  select page.id, page.phone_sealed as "phoneSealed", page.created_at as "createdAt",
         page.suspended_at as "suspendedAt", page.suspended_reason as "suspendedReason",
         c.accounts, c.out as "accountsOut", k.keys as "apiKeys", m.until as "unmaskedUntil"
    from page
    cross join lateral (
      select count(*)::int as accounts,
             count(*) filter (where state not in ('active', 'connecting', 'linking'))::int as out
        from credential
       where user_id = page.id and deleting_at is null and deactivated_at is null
    ) c
    cross join lateral (
      select count(*)::int as keys from api_key where user_id = page.id and revoked_at is null
    ) k
    cross join lateral (
      select max(until) as until from unmasking
       where staff_id = $7 and user_id = page.id and until > $8
    ) m
   order by page.id desc`

export class StaffUsers {
  readonly #db: Database
  readonly #vault: Vault

  constructor(db: Database, vault: Vault) {
    this.#db = db
    this.#vault = vault
  }

  /** Newest first. */
  async find(query: UserQuery): Promise<FoundUser[]> {
    const { staffId, phone, userId, credentialId, apiKeyId, before, limit } = query
    const index = phone === undefined ? null : phoneIndex(this.#vault)(phone)
    const given = [index, userId, credentialId, apiKeyId, before].map((one) => one ?? null)
    const rows = await this.#db.query<Row>(find, [...given, limit, staffId, new Date()])
    return await Promise.all(
      rows.map(async ({ phoneSealed, ...user }) => ({
        ...user,
        phone: (await this.#vault.open(phonePlaceOf(user.id), phoneSealed)).toString(),
      })),
    )
  }
}
