/** What a person sees: their messages, who is typing to them, and the one-time codes sent to them. */
import type { Chat, Message, Reaction } from '../../../machines/model/content.ts'
import type { ReplyKeyboard } from '../../../machines/model/reply-keyboard.ts'
import type { Queryable } from '../../database/database.ts'
import { draftsFor, type ShownDraft } from '../messages/drafts.ts'
import { isKeyboardFor, keyboardsFor, type StandingKeyboard } from '../messages/keyboards.ts'
import {
  type ChatCard,
  chatCard,
  messageCard,
  type PersonCard,
  personCard,
  type View,
  viewColumns,
  viewJoins,
} from './cards.ts'
import { chatCondition } from './natives.ts'
import { chatOf, messageOf } from './neutral.ts'
import type { Watchers } from './watchers.ts'

export interface InboxQuery {
  /** One chat, as this person names it; else all of them. */
  readonly chat?: number
  /** Only messages with greater ids; of one chat. */
  readonly after?: number
  readonly limit: number
}

/** A message with what people think of it, and the keyboard it brought this reader. */
export interface Received extends Message {
  readonly keyboard: ReplyKeyboard | null
  readonly reactions: readonly {
    readonly person: PersonCard
    readonly reactions: readonly Reaction[]
  }[]
}

export interface Code {
  readonly code: string
  readonly sent_at: Date
  readonly expires_at: Date
}

export interface Typing {
  readonly chat: Chat
  readonly person: PersonCard
  readonly action: string
  /** The topic of a forum where it is. */
  readonly topic: number | null
}

const reading = `
  with mine as (
    select c.id from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.person_id = $1 and m.role <> 'kicked'
    where $2::bigint is null or ${chatCondition('$1', '$2::bigint')}
  ),
  newest as (
    select m.* from mine cross join lateral (
      select * from sandbox_message x
      where x.chat_id = mine.id and x.deleted_at is null and x.id > $3
      order by x.id desc limit $4
    ) m
  )
  select ${messageCard('m')} as message, ${viewColumns}, (
    select coalesce(jsonb_agg(jsonb_build_object('person', ${personCard('p')},
      'reactions', t.reactions) order by t.at), '[]')
    from sandbox_reaction t join sandbox_person p on p.id = t.person_id
    where t.chat_id = m.chat_id and t.message_id = m.id
  ) as reactions, case when ${isKeyboardFor('m', '$1')} then m.keyboard end as keyboard
  from newest m ${viewJoins('m', '$1')}
  order by m.at desc, m.chat_id, m.id desc limit $4`

export interface InboxesOptions {
  readonly db: Queryable
  readonly watchers: Watchers
  readonly now: () => number
  /** Rejects for a person of another network. */
  readonly assertIn: (person: number) => Promise<void>
}

export class Inboxes {
  readonly #db: Queryable
  readonly #watchers: Watchers
  readonly #now: () => number
  readonly #assertIn: (person: number) => Promise<void>

  constructor({ db, watchers, now, assertIn }: InboxesOptions) {
    this.#db = db
    this.#watchers = watchers
    this.#now = now
    this.#assertIn = assertIn
  }

  /** Newest first. */
  async messages(person: number, { chat, after, limit }: InboxQuery): Promise<Received[]> {
    await this.#assertIn(person)
    const rows = await this.#db.query<View & Pick<Received, 'reactions' | 'keyboard'>>(reading, [
      person,
      chat ?? null,
      after ?? 0,
      limit,
    ])
    return rows.map((row) => ({
      ...messageOf(row),
      reactions: row.reactions,
      keyboard: row.keyboard,
    }))
  }

  /** Resolves once there is a message, or with none when the time is over. */
  async awaitMessages(person: number, query: InboxQuery, signal: AbortSignal) {
    const look = async () => {
      const messages = await this.messages(person, query)
      return messages.length > 0 ? messages : null
    }
    return (await this.#watchers.until(look, signal)) ?? []
  }

  /** Looks until there is something else to see, or the time is over; resolves with the last look. */
  async awaitChange<Sight>(
    look: () => Promise<Sight>,
    isNew: (sight: Sight) => boolean,
    signal: AbortSignal,
  ): Promise<Sight> {
    const found = await this.#watchers.until(async () => {
      const sight = await look()
      return isNew(sight) ? { sight } : null
    }, signal)
    return found ? found.sight : look()
  }

  async codes(person: number): Promise<Code[]> {
    await this.#assertIn(person)
    return this.#db.query<Code>(
      `select code, sent_at, expires_at from sandbox_challenge
       where person_id = $1 and state = 'code' order by sent_at desc limit 20`,
      [person],
    )
  }

  async typing(person: number): Promise<Typing[]> {
    await this.#assertIn(person)
    const rows = await this.#db.query<{
      readonly person: PersonCard
      readonly chat: ChatCard
      readonly other: PersonCard | null
      readonly action: string
      readonly topic: number | null
    }>(
      `select ${personCard('s')} as person, ${chatCard('c')} as chat, ${personCard('o')} as other,
         t.action, t.topic
       from sandbox_member m
       join sandbox_typing t on t.chat_id = m.chat_id and t.person_id <> $1 and t.until > now()
       join sandbox_chat c on c.id = t.chat_id
       join sandbox_person s on s.id = t.person_id
       left join sandbox_person o
         on o.id = case when c.low_id = $1 then c.high_id else c.low_id end
       where m.person_id = $1 and m.role not in ('left', 'kicked')`,
      [person],
    )
    return rows.map(({ chat, other, ...row }) => ({ ...row, chat: chatOf(chat, other) }))
  }

  /** What stands in the place of this person's ordinary keyboard, at most one a chat. */
  async keyboards(person: number): Promise<StandingKeyboard[]> {
    await this.#assertIn(person)
    return keyboardsFor(this.#db, person)
  }

  /** What others are writing to this person and have not sent yet. */
  async drafts(person: number): Promise<ShownDraft[]> {
    await this.#assertIn(person)
    return draftsFor(this.#db, person, this.#now())
  }
}
