/** Communities: chats and bots that belong together. Their owner adds and removes them, and people of one chat come into the others. */
import type { Chat, Service } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Community, Person } from '../../../machines/model/person.ts'
import type { Queryable } from '../../database/database.ts'
import { chatOf, personOf } from '../delivery/mapping.ts'
import type { NetworkContext } from '../network/context.ts'
import { type ChatRow, chatJson, type PersonRow, personJson } from '../network/rows.ts'
import { accessOf, assertMay } from './access.ts'
import { enter, type Joined } from './joining.ts'
import type { ChatKey } from './members.ts'
import { announce, lockChat, withOutbox } from './transaction.ts'

/** Communities of one person: few enough to be listed whole. */
const MOST = 20

const bad = (description: string) => failed('bad_request', description)

interface CommunityRecord extends Community {
  readonly isOwn: boolean
  readonly chats: readonly { readonly chat: Chat; readonly isInside: boolean }[]
  readonly bots: readonly Person[]
}

/** SQL: whether the person `$1` is in the chat `c`. */
const IS_INSIDE = `exists (select from sandbox_member m
  where m.chat_id = c.id and m.person_id = $1 and m.role not in ('left', 'kicked'))`

/** SQL: whether the community `y` is one of the person `$1`: theirs, or that of a chat they are in. */
const IS_KNOWN = `(y.owner_id = $1 or exists (
  select from sandbox_chat c where c.community_id = y.id and ${IS_INSIDE}))`

export class Communities {
  readonly #context: NetworkContext
  readonly #assertIn: (person: number) => Promise<void>

  /** `assertIn` rejects for a person of another network. */
  constructor(context: NetworkContext, assertIn: (person: number) => Promise<void>) {
    this.#context = context
    this.#assertIn = assertIn
  }

  async create(person: number, name: string): Promise<Community> {
    await this.#assertIn(person)
    const { db, network } = this.#context
    const [made] = await db.query<Community>(
      `insert into sandbox_community (user_id, owner_id, name) select $1, $2, $3
       where (select count(*) from sandbox_community where owner_id = $2) < ${MOST}
       returning id, name`,
      [network, person, name],
    )
    if (!made) throw bad('COMMUNITIES_TOO_MUCH')
    return made
  }

  /** Communities that the person owns, and those of their chats; the oldest first. */
  async list(person: number): Promise<readonly CommunityRecord[]> {
    await this.#assertIn(person)
    const { db, network } = this.#context
    const rows = await db.query<
      Community & {
        readonly isOwn: boolean
        readonly chats: readonly { readonly chat: ChatRow; readonly isInside: boolean }[]
        readonly bots: readonly PersonRow[]
      }
    >(
      `select y.id, y.name, y.owner_id = $1 as "isOwn", (
         select coalesce(jsonb_agg(jsonb_build_object('chat', ${chatJson('c')},
           'isInside', ${IS_INSIDE}) order by c.id), '[]')
         from sandbox_chat c where c.community_id = y.id
       ) as chats, (
         select coalesce(jsonb_agg(${personJson('p')} order by p.id), '[]')
         from sandbox_person p where p.community_id = y.id
       ) as bots
       from sandbox_community y where y.user_id = $2 and ${IS_KNOWN} order by y.id`,
      [person, network],
    )
    return rows.map((row) => ({
      ...row,
      chats: row.chats.map(({ chat, isInside }) => ({ chat: chatOf(chat, null), isInside })),
      bots: row.bots.map(personOf),
    }))
  }

  async rename(person: number, id: number, name: string): Promise<Community> {
    const community = await this.#own(person, id)
    const { db } = this.#context
    await db.query('update sandbox_community set name = $2 where id = $1', [id, name])
    return { ...community, name }
  }

  /** Deletes an empty community only, because each chat is notified when it is removed. */
  async delete(person: number, id: number): Promise<void> {
    await this.#own(person, id)
    await this.#context.db.transaction(async (tx) => {
      // Waits for chats that are being added now.
      await tx.query('select from sandbox_community where id = $1 for update', [id])
      const deleted = await tx.query(
        `delete from sandbox_community where id = $1
           and not exists (select from sandbox_chat where community_id = $1)
           and not exists (select from sandbox_person where community_id = $1) returning id`,
        [id],
      )
      if (deleted.length === 0) throw bad('COMMUNITY_NOT_EMPTY')
    })
  }

  /** `native` is a supergroup or channel, or the account of a bot. A service message announces it. */
  async add(person: number, id: number, native: number): Promise<void> {
    const community = await this.#own(person, id)
    await this.#change(person, native, async (db, place) => {
      // It must not be deleted meanwhile.
      const held = await db.query('select id from sandbox_community where id = $1 for key share', [
        id,
      ])
      if (held.length === 0) throw failed('not_found', '')
      const added = await db.query(
        place.kind === 'bot'
          ? `update sandbox_person set community_id = $2
             where id = $1 and community_id is null and sessions > 0 returning id`
          : `update sandbox_chat set community_id = $2
             where id = $1 and community_id is null returning id`,
        [place.id, id],
      )
      if (added.length === 0) throw bad('COMMUNITY_PEER_INVALID')
      return { fact: 'community_added', community }
    })
  }

  async remove(person: number, id: number, native: number): Promise<void> {
    await this.#own(person, id)
    await this.#change(person, native, async (db, place) => {
      const removed = await db.query(
        place.kind === 'bot'
          ? `update sandbox_person set community_id = null
             where id = $1 and community_id = $2 returning id`
          : `update sandbox_chat set community_id = null
             where id = $1 and community_id = $2 returning id`,
        [place.id, id],
      )
      if (removed.length === 0) throw bad('COMMUNITY_PEER_INVALID')
      return { fact: 'community_removed' }
    })
  }

  /** Comes into a chat by way of the community, without an invite link. */
  async join(person: number, id: number, native: number): Promise<Joined> {
    await this.#assertIn(person)
    const { db, network, now } = this.#context
    const [found] = await db.query<{
      readonly community: Community
      readonly chat: ChatKey
      readonly asks: boolean
    }>(
      `select jsonb_build_object('id', y.id, 'name', y.name) as community,
         jsonb_build_object('id', p.id, 'native', p.native, 'kind', p.kind) as chat,
         p.join_by_request as asks
       from sandbox_community y join sandbox_chat p on p.community_id = y.id and p.native = $4
       where y.id = $2 and y.user_id = $3 and ${IS_KNOWN}`,
      [person, id, network, native],
    )
    if (!found) throw failed('not_found', '')
    const { community, chat, asks } = found
    return lockChat(this.#context, { chat: chat.id, person }, (transaction) =>
      enter({ ...transaction, now }, chat, person, asks, { community }),
    )
  }

  /** Rejects if the person does not own the community. */
  async #own(person: number, id: number): Promise<Community> {
    await this.#assertIn(person)
    const [community] = await this.#context.db.query<Community>(
      `select id, name from sandbox_community where id = $1 and owner_id = $2`,
      [id, person],
    )
    if (!community) throw failed('not_found', '')
    return community
  }

  async #change(
    person: number,
    native: number,
    change: (db: Queryable, place: Place) => Promise<Service>,
  ): Promise<void> {
    const { capacity, network } = this.#context
    const place = await this.#placeOf(person, native)
    await capacity.reserve(network, 1, () =>
      withOutbox(this.#context, async (tx, outbox) => {
        await announce({ outbox }, { person }, native, await change(tx, place))
      }),
    )
  }

  async #placeOf(person: number, native: number): Promise<Place> {
    if (native > 0) {
      await this.#assertIn(native)
      return { id: native, kind: 'bot' }
    }
    const access = await accessOf(this.#context.db, person, native)
    const { id, kind, direct } = access.chat
    if ((kind !== 'supergroup' && kind !== 'channel') || direct) throw bad('COMMUNITY_PEER_INVALID')
    assertMay(access, 'change the community of the chat', 'change_info')
    return { id, kind: 'chat' }
  }
}

/** `id` is that of the row. */
interface Place {
  readonly id: number
  readonly kind: 'bot' | 'chat'
}
