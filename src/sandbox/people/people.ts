/** Registers, lists, changes and blocks the people of one network, and lists the stories that they see. */

import { failed, invalidField, missingField } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { Member } from '../../../machines/model/membership.ts'
import type { Queryable } from '../../database/database.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import type { Faults } from '../delivery/faults.ts'
import { personOf } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import type { NetworkContext, Services } from '../network/context.ts'
import { assertFreeUsernames, takenName } from '../network/members.ts'
import { type PersonRow, personJson } from '../network/rows.ts'
import { type SeenStory, storiesFor } from '../stories/stories.ts'
import { hashPassword } from './sign-in.ts'

interface NewPerson {
  /** Absent: the sandbox makes one up. */
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
  /** The number of linked devices. */
  readonly sessions: number
  readonly faults: Faults
  /** Telegram Stars. */
  readonly stars: number
  readonly created_at: Date
  /** Which account verified the person, and in which words. */
  readonly verification: { readonly by: number; readonly description: string } | null
  readonly is_premium: boolean
  /** A custom emoji. */
  readonly emoji_status: string | null
  /** The newest one of the profile. */
  readonly photo: Media | null
}

interface PersonChange {
  readonly first_name?: string
  readonly last_name?: string | null
  readonly username?: string | null
  readonly deactivated?: boolean
}

/** Columns of the person `p`. */
const columns = `p.id, p.phone, p.username, p.first_name, p.last_name, p.language_code,
  p.password_hash is not null as has_password, p.deactivated, p.banned, p.sessions, p.faults,
  p.stars, p.created_at, p.verification, coalesce(p.premium_until > now(), false) as is_premium,
  case when coalesce((p.emoji_status ->> 'until')::bigint, 1e18) > extract(epoch from now())
    then p.emoji_status ->> 'customEmojiId' end as emoji_status,
  (select f.photo from sandbox_photo f where f.person_id = p.id order by f.id desc limit 1) as photo`

/** A number that no operator assigns. */
const madeUpPhone = `'+8889' || lpad(currval('sandbox_person_id')::text, 9, '0')`

type Context = Pick<NetworkContext, 'network' | 'capacity' | 'db' | 'wake' | 'now'>

export class People {
  readonly #db: Queryable
  readonly #context: Context

  constructor(context: Context) {
    this.#db = context.db
    this.#context = context
  }

  /** All of them or none. */
  async create(people: readonly NewPerson[]): Promise<PersonRecord[]> {
    await assertFreeUsernames(this.#context, people)
    const rows = await Promise.all(people.map(rowOf))
    const { db, capacity, network } = this.#context
    const insert = async (tx: Queryable) => {
      await capacity.assertForPeople(tx, network, rows.length)
      return tx.query<PersonRecord>(
        `insert into sandbox_person as p (id, phone, username, first_name, last_name, language_code,
           password_hash, password_hint, user_id)
         select nextval('sandbox_person_id'), coalesce(phone, ${madeUpPhone}), username, first_name,
           last_name, language_code, password_hash, password_hint, $2
         from jsonb_to_recordset($1::jsonb) as given (phone text, username text, first_name text,
           last_name text, language_code text, password_hash text, password_hint text)
         returning ${columns}`,
        [JSON.stringify(rows), network],
      )
    }
    return db.transaction(insert).catch(takenName)
  }

  async get(id: number): Promise<PersonRecord> {
    const [row] = await this.#db.query<PersonRecord>(
      `select ${columns} from sandbox_person p where id = $1 and user_id = $2`,
      [id, this.#context.network],
    )
    if (!row) throw failed('not_found', '')
    return row
  }

  list({ limit, before }: { limit: number; before?: number }): Promise<PersonRecord[]> {
    return this.#db.query<PersonRecord>(
      `select ${columns} from sandbox_person p
       where user_id = $3 and ($2::bigint is null or id < $2)
       order by id desc limit $1`,
      [limit, before ?? null, this.#context.network],
    )
  }

  async change(id: number, change: PersonChange): Promise<PersonRecord> {
    await assertFreeUsernames(this.#context, [change], id)
    const [row] = await this.#db
      .query<PersonRecord>(
        `update sandbox_person p
         set (first_name, last_name, username, deactivated) =
           (select n.first_name, n.last_name, n.username, n.deactivated
            from jsonb_populate_record(p, $2::jsonb) n)
         where id = $1 and user_id = $3
         returning ${columns}`,
        [id, JSON.stringify(change), this.#context.network],
      )
      .catch(takenName)
    if (!row) throw failed('not_found', '')
    return row
  }

  /** Newest first. */
  async stories(person: number, limit: number): Promise<SeenStory[]> {
    await this.get(person)
    return storiesFor(this.#context, person, limit)
  }

  /** A blocked person cannot write to this one. */
  async block(person: number, blocked: number, isBlocked: boolean): Promise<void> {
    await Promise.all([this.get(person), this.get(blocked)])
    await setBlock(this.#context, person, blocked, isBlocked)
  }
}

async function rowOf({ phone, password, ...person }: NewPerson) {
  return {
    ...person,
    ...(phone !== undefined && { phone: phoneNumber(phone) }),
    ...(password !== undefined && { password_hash: await hashPassword(password) }),
  }
}

/** E.164. The sandbox calls no numbers, so it accepts any number of the right form. */
export function phoneNumber(given: string | undefined): string {
  if (!given) throw missingField('phone')
  const phone = given.replaceAll(/[\s().-]/g, '')
  if (!/^\+[1-9]\d{6,14}$/.test(phone)) {
    throw invalidField('phone', 'must be a phone number in international form')
  }
  return phone
}

interface PrivateChat {
  readonly chat: number
  readonly me: PersonRow
  readonly other: PersonRow
}

const FIND_CHAT = `
  select c.id as chat, ${personJson('me')} as me, ${personJson('o')} as other
  from sandbox_chat c
  join sandbox_person me on me.id = $1
  join sandbox_person o on o.id = $2
  where c.low_id = least($1::bigint, $2::bigint) and c.high_id = greatest($1::bigint, $2::bigint)`

/** The other person is notified of a change of membership in their private chat. */
async function setBlock(
  { db, wake }: Pick<Services, 'db' | 'wake'>,
  person: number,
  blocked: number,
  isBlocked: boolean,
): Promise<void> {
  const woken: number[] = []
  await db.transaction(async (tx) => {
    const changed = await tx.query(
      isBlocked
        ? 'insert into sandbox_block values ($1, $2) on conflict do nothing returning person_id'
        : 'delete from sandbox_block where person_id = $1 and blocked_id = $2 returning person_id',
      [person, blocked],
    )
    if (changed.length === 0 || person === blocked) return
    await openPrivateChat(tx, person, blocked)
    const [both] = await tx.query<PrivateChat>(FIND_CHAT, [person, blocked])
    if (!both) return
    const at = (status: Member['status']) => ({ person: personOf(both.other), status })
    const [before, after] = isBlocked ? [at('member'), at('kicked')] : [at('kicked'), at('member')]
    await notify(
      { db: tx, wake: (people) => woken.push(...people) },
      {
        kind: 'member',
        chat: both.chat,
        actor: person,
        facts: { by: personOf(both.me), before, after },
      },
      { people: [blocked] },
    )
  })
  wake(woken)
}
