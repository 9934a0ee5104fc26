/** Creates and lists the groups and channels of one network, and changes their members. */

import type { Chat } from '../../../machines/model/content.ts'
import { failed, notFound } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { DefaultRights } from '../../../machines/model/operation-bots.ts'
import { withManaging } from '../../../machines/model/rights.ts'
import type { Queryable } from '../../database/database.ts'
import { chatOf } from '../delivery/mapping.ts'
import type { NetworkContext } from '../network/context.ts'
import { assertFreeUsernames, takenName } from '../network/members.ts'
import { type ChatRow, chatJson, type PersonRow, personJson } from '../network/rows.ts'
import type { Role } from './access.ts'
import {
  ALL_BUT_PROMOTING,
  type ChatKey,
  changeMember,
  isInside,
  memberOf,
  notifyFirstMembers,
} from './members.ts'
import { defaultRightsOf } from './moderation.ts'
import { setSlowMode } from './settings.ts'
import { lockChat } from './transaction.ts'

interface NewChat {
  readonly kind: 'group' | 'supergroup' | 'channel'
  readonly title: string
  readonly username?: string
  readonly description?: string
  readonly owner: number
  readonly members?: readonly number[]
  /** Only a supergroup can be a forum. */
  readonly isForum?: boolean
  /** Only for a supergroup with a public name: joining by that name needs an approval. */
  readonly asks?: boolean
}

interface Verification {
  readonly by: number
  readonly description: string
}

/** Where the messages of a forum stand that are in no other topic. */
interface GeneralTopic {
  readonly name: string
  readonly isClosed: boolean
  readonly isHidden: boolean
}

interface ShownMember {
  readonly person: PersonRow
  readonly role: Role
  /** Of an administrator. */
  readonly title: string | null
  /** Of an ordinary member. */
  readonly tag: string | null
}

export interface ChatRecord {
  readonly chat: Chat
  readonly members: readonly ShownMember[]
  /** Only of a forum. */
  readonly generalTopic: GeneralTopic | null
  /** Which account verified the chat, and in which words. */
  readonly verification: Verification | null
  readonly photo: Media | null
  /** 0: no slow mode. */
  readonly slowSeconds: number
}

interface OfferedRights extends DefaultRights {
  /** The person asks for them: they are not just the usual ones. */
  readonly isAsked: boolean
}

/** Clients take a forum's messages without a topic for messages of this topic: no message may have its number. */
const GENERAL_TOPIC = 1

interface Row extends Omit<ChatRecord, 'chat'> {
  readonly chat: ChatRow
}

const selecting = `
  select ${chatJson('c')} as chat, (
    select coalesce(jsonb_agg(jsonb_build_object('person', ${personJson('p')}, 'role', m.role,
      'title', m.title, 'tag', m.tag)
      order by m.person_id), '[]')
    from sandbox_member m join sandbox_person p on p.id = m.person_id where m.chat_id = c.id
  ) as members, c.verification, c.photo, c.slow_mode as "slowSeconds", case when c.is_forum then jsonb_build_object(
    'name', coalesce(c.general_name, 'General'), 'isClosed', c.general_closed,
    'isHidden', c.general_hidden) end as "generalTopic"
  from sandbox_chat c`

export class Chats {
  readonly #context: NetworkContext

  constructor(context: NetworkContext) {
    this.#context = context
  }

  async create(chat: NewChat): Promise<ChatRecord> {
    const people = [chat.owner, ...new Set(chat.members?.filter((id) => id !== chat.owner))]
    await this.#assertPeople(people)
    await assertFreeUsernames(this.#context, [chat])
    const isForum = chat.isForum ?? false
    if (isForum && chat.kind !== 'supergroup') {
      throw failed('bad_request', 'only supergroups can be forums')
    }
    if (chat.asks && (chat.kind !== 'supergroup' || chat.username === undefined)) {
      throw failed('bad_request', 'only supergroups with a username can be joined by request')
    }
    const base = chat.kind === 'group' ? 0 : -1_000_000_000_000
    const { db, capacity, network } = this.#context
    const insert = async (tx: Queryable) => {
      await capacity.assertForChat(tx, network)
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
    await lockChat(this.#context, { chat: id, person: chat.owner }, (transaction) =>
      notifyFirstMembers(transaction, id, chat.owner),
    )
    return this.get(native)
  }

  async get(native: number): Promise<ChatRecord> {
    const [row] = await this.#context.db.query<Row>(
      `${selecting} where c.native = $1 and c.user_id = $2`,
      [native, this.#context.network],
    )
    if (!row) throw failed('not_found', '')
    return recordOf(row)
  }

  async list({ limit, before }: { limit: number; before?: number }) {
    const rows = await this.#context.db.query<Row>(
      `${selecting} where c.user_id = $3 and c.native is not null
         and ($2::bigint is null or c.id < $2)
       order by c.id desc limit $1`,
      [limit, before ?? null, this.#context.network],
    )
    return rows.map((row) => ({ id: row.chat.id, record: recordOf(row) }))
  }

  /** An administrator without `given` has the rights that they ask for; without those all but promoting. */
  async join(
    native: number,
    person: number,
    role: Role,
    given?: DefaultRights,
  ): Promise<ChatRecord> {
    await this.#assertPeople([person])
    const chat = await this.#find(native)
    await lockChat(this.#context, { chat: chat.id, person }, async (transaction) => {
      const isAdmin = role === 'admin'
      const rights = given ?? (await defaultRightsOf(transaction.db, person, chat.kind))
      await changeMember(transaction, { person }, chat, person, {
        role,
        keepsLimits: role === 'member',
        ...(isAdmin &&
          rights && {
            ...rights,
            rights: withManaging(rights.rights),
            isAnonymous: rights.isAnonymous && chat.kind !== 'channel',
          }),
      })
    })
    return this.get(native)
  }

  /** The rights to offer where the person is made an administrator of the chat. */
  async offeredRights(native: number, person: number): Promise<OfferedRights> {
    await this.#assertPeople([person])
    const { kind } = await this.#find(native)
    const asked = await defaultRightsOf(this.#context.db, person, kind)
    if (asked) return { ...asked, isAsked: true }
    return { rights: ALL_BUT_PROMOTING, isAnonymous: false, isAsked: false }
  }

  /** How long ordinary members wait between two messages; 0: not at all. */
  async slowDown(
    native: number,
    person: number,
    seconds: Parameters<typeof setSlowMode>[3],
  ): Promise<void> {
    await this.#assertPeople([person])
    await setSlowMode(this.#context, person, native, seconds)
  }

  async leave(native: number, person: number, how: 'left' | 'kicked'): Promise<ChatRecord> {
    const chat = await this.#find(native)
    if (how === 'kicked') await this.#assertPeople([person])
    await lockChat(this.#context, { chat: chat.id, person }, async (transaction) => {
      const before = await memberOf(transaction.db, chat.id, person)
      const keepsLimits = how === 'left'
      if (keepsLimits && !isInside(before)) throw notFound('member')
      await changeMember(transaction, { person }, chat, person, { role: how, keepsLimits })
    })
    return this.get(native)
  }

  async #find(native: number): Promise<ChatKey> {
    const [row] = await this.#context.db.query<ChatKey>(
      'select id, native, kind from sandbox_chat where native = $1 and user_id = $2',
      [native, this.#context.network],
    )
    if (!row) throw failed('not_found', '')
    return row
  }

  async #assertPeople(people: readonly number[]) {
    const found = await this.#context.db.query(
      'select from sandbox_person where id = any($1) and user_id = $2',
      [people, this.#context.network],
    )
    if (found.length < people.length) throw notFound('user')
  }
}

const recordOf = ({ chat, ...row }: Row): ChatRecord => ({ ...row, chat: chatOf(chat, null) })
