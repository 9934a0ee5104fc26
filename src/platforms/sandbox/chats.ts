/** Groups and channels, and who is in them. */
import { failed } from '../../../actors/errors.ts'
import type { Chat, Content } from '../../../machines/content.ts'
import type { Queryable } from '../../database/database.ts'
import { type ChatCard, chatCard, type PersonCard, personCard } from './cards.ts'
import { chatOf, personOf } from './neutral.ts'
import type { Outbox } from './outbox.ts'
import { send } from './send.ts'
import { assertFreeUsernames, takenName } from './usernames.ts'

export type Role = 'owner' | 'admin' | 'member' | 'left' | 'kicked'

export interface NewChat {
  readonly kind: 'group' | 'supergroup' | 'channel'
  readonly title: string
  readonly username?: string
  readonly description?: string
  readonly owner: number
  readonly members?: readonly number[]
}

export interface ChatRecord {
  readonly chat: Chat
  readonly members: readonly { readonly person: PersonCard; readonly role: Role }[]
}

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
  readonly #db: Queryable
  readonly #outbox: Outbox

  constructor(db: Queryable, outbox: Outbox) {
    this.#db = db
    this.#outbox = outbox
  }

  async create(chat: NewChat): Promise<ChatRecord> {
    const people = [chat.owner, ...new Set(chat.members?.filter((id) => id !== chat.owner))]
    await this.#assertPeople(people)
    await assertFreeUsernames(this.#db, [chat])
    const base = chat.kind === 'group' ? 0 : -1_000_000_000_000
    const [row] = await this.#db
      .query<{ native: number }>(
        `with chat as (
           insert into sandbox_chat (kind, native, title, username, description)
           values ($1, $2::bigint - nextval('sandbox_group_id'), $3, $4, $5) returning id, native
         ),
         member as (
           insert into sandbox_member (chat_id, person_id, role)
           select chat.id, person, case when person = $6::bigint then 'owner' else 'member' end
           from chat, unnest($7::bigint[]) person
         )
         select native from chat`,
        [
          ...[chat.kind, base, chat.title, chat.username ?? null, chat.description ?? null],
          ...[chat.owner, people],
        ],
      )
      .catch(takenName)
    return this.get(row!.native)
  }

  async get(native: number): Promise<ChatRecord> {
    const [row] = await this.#db.query<Row>(`${selecting} where c.native = $1`, [native])
    if (!row) throw failed('not_found', '')
    return recordOf(row)
  }

  async list({ limit, before }: { limit: number; before?: number }) {
    const rows = await this.#db.query<Row>(
      `${selecting} where c.native is not null and ($2::bigint is null or c.id < $2)
       order by c.id desc limit $1`,
      [limit, before ?? null],
    )
    return rows.map((row) => ({ id: row.chat.id, record: recordOf(row) }))
  }

  async join(native: number, person: number, role: Role): Promise<ChatRecord> {
    await this.#assertPeople([person])
    const before = await this.#roleOf(native, person)
    await this.#setRole(native, person, role)
    if (!isInside(before)) await this.#tell(native, person, 'joined')
    return this.get(native)
  }

  async leave(native: number, person: number, how: 'left' | 'kicked'): Promise<ChatRecord> {
    const before = await this.#roleOf(native, person)
    if (how === 'left' && !isInside(before)) throw failed('bad_request', 'member not found')
    if (isInside(before)) await this.#tell(native, person, 'left')
    await this.#setRole(native, person, how)
    return this.get(native)
  }

  /** Groups are told who comes and goes; channels are not. */
  async #tell(native: number, person: number, fact: 'joined' | 'left') {
    const { chat, members } = await this.get(native)
    if (chat.surface === 'channel') return
    const who = personOf(members.find((member) => member.person.id === person)!.person)
    const content: Content =
      fact === 'joined'
        ? { kind: 'service', fact, people: [who] }
        : { kind: 'service', fact, person: who }
    const draft = { sender: person, native, request: crypto.randomUUID(), content }
    await send(this.#db, this.#outbox, draft)
  }

  async #roleOf(native: number, person: number): Promise<Role | undefined> {
    const { members } = await this.get(native)
    return members.find((member) => member.person.id === person)?.role
  }

  async #setRole(native: number, person: number, role: Role) {
    await this.#db.query(
      `insert into sandbox_member (chat_id, person_id, role)
       select id, $2, $3 from sandbox_chat where native = $1
       on conflict (chat_id, person_id) do update set role = excluded.role`,
      [native, person, role],
    )
  }

  async #assertPeople(people: readonly number[]) {
    const found = await this.#db.query('select from sandbox_person where id = any($1)', [people])
    if (found.length < people.length) throw failed('bad_request', 'user not found')
  }
}

const isInside = (role: Role | undefined) =>
  role !== undefined && role !== 'left' && role !== 'kicked'

const recordOf = ({ chat, members }: Row): ChatRecord => ({ chat: chatOf(chat, null), members })
