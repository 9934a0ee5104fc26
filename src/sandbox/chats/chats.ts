/** Groups and channels, and who is in them. */

import type { Chat } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'
import type { World } from '../../platforms/sandbox/operations.ts'
import { type ChatCard, chatCard, type PersonCard, personCard } from '../delivery/cards.ts'
import { chatOf } from '../delivery/neutral.ts'
import { assertFreeUsernames, takenName } from '../people/usernames.ts'
import { topicsOf } from '../topics/topics.ts'
import { tellMembers } from './founding.ts'
import { type ChatPlace, changeMember, isInside, memberOf } from './membership.ts'
import { inTurn } from './turn.ts'

export type Role = 'owner' | 'admin' | 'member' | 'left' | 'kicked'

export interface NewChat {
  readonly kind: 'group' | 'supergroup' | 'channel'
  readonly title: string
  readonly username?: string
  readonly description?: string
  readonly owner: number
  readonly members?: readonly number[]
  /** Of a supergroup. */
  readonly isForum?: boolean
  /** Of a supergroup with a public name: whoever joins by it asks to be let in. */
  readonly asks?: boolean
}

export interface ChatRecord {
  readonly chat: Chat
  readonly members: readonly { readonly person: PersonCard; readonly role: Role }[]
}

/** Clients believe a forum's messages outside any topic to be in this one: no message has its number. */
const GENERAL_TOPIC = 1

interface Row {
  readonly chat: ChatCard
  readonly members: ChatRecord['members']
}

const selecting = `
  select ${chatCard('c')} as chat, (
    select coalesce(jsonb_agg(jsonb_build_object('person', ${personCard('p')}, 'role', m.role)
      order by m.person_id), '[]')
    from sandbox_member m join sandbox_person p on p.id = m.person_id where m.chat_id = c.id
  ) as members
  from sandbox_chat c`

export class Chats {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  async create(chat: NewChat): Promise<ChatRecord> {
    const people = [chat.owner, ...new Set(chat.members?.filter((id) => id !== chat.owner))]
    await this.#assertPeople(people)
    await assertFreeUsernames(this.#world, [chat])
    const isForum = chat.isForum ?? false
    if (isForum && chat.kind !== 'supergroup') {
      throw failed('bad_request', 'only supergroups can be forums')
    }
    if (chat.asks && (chat.kind !== 'supergroup' || chat.username === undefined)) {
      throw failed('bad_request', 'only supergroups with a username can be joined by request')
    }
    const base = chat.kind === 'group' ? 0 : -1_000_000_000_000
    const { db, room, network } = this.#world
    const insert = async (tx: Queryable) => {
      await room.assertForChat(tx, network)
      return tx.query<{ id: number; native: number }>(
        `with chat as (
           insert into sandbox_chat
             (kind, native, title, username, description, is_forum, last_message, join_by_request,
               user_id)
           values ($1, $2::bigint - nextval('sandbox_group_id'), $3, $4, $5, $8, $9, $10, $11)
           returning id, native
         ),
         member as (
           insert into sandbox_member (chat_id, person_id, role)
           select chat.id, person, case when person = $6::bigint then 'owner' else 'member' end
           from chat, unnest($7::bigint[]) person
         )
         select id, native from chat`,
        [
          ...[chat.kind, base, chat.title, chat.username ?? null, chat.description ?? null],
          ...[chat.owner, people, isForum, isForum ? GENERAL_TOPIC : 0, chat.asks ?? false],
          network,
        ],
      )
    }
    const [row] = await db.transaction(insert).catch(takenName)
    const { id, native } = row!
    await inTurn(this.#world, { chat: id, person: chat.owner }, (turn) =>
      tellMembers(turn, id, chat.owner),
    )
    return this.get(native)
  }

  async get(native: number): Promise<ChatRecord> {
    const [row] = await this.#world.db.query<Row>(
      `${selecting} where c.native = $1 and c.user_id = $2`,
      [native, this.#world.network],
    )
    if (!row) throw failed('not_found', '')
    return recordOf(row)
  }

  async list({ limit, before }: { limit: number; before?: number }) {
    const rows = await this.#world.db.query<Row>(
      `${selecting} where c.user_id = $3 and c.native is not null
         and ($2::bigint is null or c.id < $2)
       order by c.id desc limit $1`,
      [limit, before ?? null, this.#world.network],
    )
    return rows.map((row) => ({ id: row.chat.id, record: recordOf(row) }))
  }

  /** The topics of a forum, the oldest first. */
  async topics(native: number) {
    await this.#place(native)
    return topicsOf(this.#world, native)
  }

  async join(native: number, person: number, role: Role): Promise<ChatRecord> {
    await this.#assertPeople([person])
    const place = await this.#place(native)
    await inTurn(this.#world, { chat: place.id, person }, (turn) =>
      changeMember(turn, { person }, place, person, { role, keepsLimits: role === 'member' }),
    )
    return this.get(native)
  }

  async leave(native: number, person: number, how: 'left' | 'kicked'): Promise<ChatRecord> {
    const place = await this.#place(native)
    if (how === 'kicked') await this.#assertPeople([person])
    await inTurn(this.#world, { chat: place.id, person }, async (turn) => {
      const before = await memberOf(turn.db, place.id, person)
      const keepsLimits = how === 'left'
      if (keepsLimits && !isInside(before)) throw failed('bad_request', 'member not found')
      await changeMember(turn, { person }, place, person, { role: how, keepsLimits })
    })
    return this.get(native)
  }

  async #place(native: number): Promise<ChatPlace> {
    const [row] = await this.#world.db.query<ChatPlace>(
      'select id, native, kind from sandbox_chat where native = $1 and user_id = $2',
      [native, this.#world.network],
    )
    if (!row) throw failed('not_found', '')
    return row
  }

  async #assertPeople(people: readonly number[]) {
    const found = await this.#world.db.query(
      'select from sandbox_person where id = any($1) and user_id = $2',
      [people, this.#world.network],
    )
    if (found.length < people.length) throw failed('bad_request', 'user not found')
  }
}

const recordOf = ({ chat, members }: Row): ChatRecord => ({ chat: chatOf(chat, null), members })
