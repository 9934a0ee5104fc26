/** The inbox of a person: messages, drafts, typing, keyboards, and the one-time codes sent to them. */

import type { ReplyKeyboard } from '../../../machines/model/buttons.ts'
import type { Chat, Message, Reaction } from '../../../machines/model/content.ts'
import type { Database, Queryable } from '../../database/database.ts'
import type { Hub } from '../delivery/hub.ts'
import { chatOf, messageOf, withoutHiddenVotes } from '../delivery/mapping.ts'
import { openPaid } from '../delivery/paid-media.ts'
import { draftsFor, type ShownDraft, stopDraft } from '../messages/composing.ts'
import { ephemeralFor } from '../messages/ephemeral.ts'
import { isKeyboardFor, keyboardsFor, type ShownKeyboard } from '../messages/reply-keyboards.ts'
import type { Wake } from '../network/context.ts'
import {
  type ChatRow,
  chatCondition,
  chatJson,
  type MessageView,
  messageJson,
  type PersonRow,
  personJson,
  viewColumns,
  viewJoins,
} from '../network/rows.ts'

interface InboxQuery {
  /** The native id of one chat; absent: all chats. */
  readonly chat?: number
  /** With `chat`: only messages with greater ids. */
  readonly after?: number
  readonly limit: number
}

/** A message with its reactions, and the keyboard that it brought this reader. */
export interface Received extends Message {
  readonly keyboard: ReplyKeyboard | null
  readonly isPinned: boolean
  readonly reactions: readonly {
    readonly person: PersonRow
    readonly reactions: readonly Reaction[]
  }[]
}

interface Code {
  readonly code: string
  readonly sent_at: Date
  readonly expires_at: Date
}

interface Typing {
  readonly chat: Chat
  readonly person: PersonRow
  readonly action: string
  /** The topic of a forum. */
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
  select ${messageJson('m')} as message, ${viewColumns}, (
    select coalesce(jsonb_agg(jsonb_build_object('person', ${personJson('p')},
      'reactions', t.reactions) order by t.at), '[]')
    from sandbox_reaction t join sandbox_person p on p.id = t.person_id
    where t.chat_id = m.chat_id and t.message_id = m.id
  ) as reactions, case when ${isKeyboardFor('m', '$1')} then m.keyboard end as keyboard,
    exists (
      select from sandbox_pin i where i.chat_id = m.chat_id and i.message_id = m.id
    ) as "isPinned"
  from newest m ${viewJoins('m', '$1')}
  order by m.at desc, m.chat_id, m.id desc limit $4`

interface InboxesOptions {
  readonly db: Database
  readonly wake: Wake
  readonly hub: Hub
  /** Unix milliseconds. */
  readonly now: () => number
  /** Rejects for a person of another network. */
  readonly assertIn: (person: number) => Promise<void>
}

export class Inboxes {
  readonly #db: Queryable
  readonly #options: InboxesOptions

  constructor(options: InboxesOptions) {
    this.#db = options.db
    this.#options = options
  }

  /** Newest first. */
  async messages(person: number, { chat, after, limit }: InboxQuery): Promise<Received[]> {
    await this.#options.assertIn(person)
    const rows = await this.#db.query<
      MessageView & Pick<Received, 'reactions' | 'keyboard' | 'isPinned'>
    >(reading, [person, chat ?? null, after ?? 0, limit])
    const found = rows.map((row) => ({
      ...withoutHiddenVotes(messageOf(row), row.message.sender_id === person),
      reactions: row.reactions,
      keyboard: row.keyboard,
      isPinned: row.isPinned,
    }))
    return [...(await openPaid(this.#db, person, found))]
  }

  /** Resolves once there is a message, or with none when the signal aborts. */
  async awaitMessages(person: number, query: InboxQuery, signal: AbortSignal) {
    const look = async () => {
      const messages = await this.messages(person, query)
      return messages.length > 0 ? messages : null
    }
    return (await this.#options.hub.until(look, signal)) ?? []
  }

  /** Looks until `isNew` accepts what it sees or the signal aborts. Resolves with the last look. */
  async awaitChange<Sight>(
    look: () => Promise<Sight>,
    isNew: (sight: Sight) => boolean,
    signal: AbortSignal,
  ): Promise<Sight> {
    const found = await this.#options.hub.until(async () => {
      const sight = await look()
      return isNew(sight) ? { sight } : null
    }, signal)
    return found ? found.sight : look()
  }

  async codes(person: number): Promise<Code[]> {
    await this.#options.assertIn(person)
    return this.#db.query<Code>(
      `select code, sent_at, expires_at from sandbox_challenge
       where person_id = $1 and state = 'code' order by sent_at desc limit 20`,
      [person],
    )
  }

  async typing(person: number): Promise<Typing[]> {
    await this.#options.assertIn(person)
    const rows = await this.#db.query<{
      readonly person: PersonRow
      readonly chat: ChatRow
      readonly other: PersonRow | null
      readonly action: string
      readonly topic: number | null
    }>(
      `select ${personJson('s')} as person, ${chatJson('c')} as chat, ${personJson('o')} as other,
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

  /** The reply keyboards shown to this person, at most one for each chat. */
  async keyboards(person: number): Promise<ShownKeyboard[]> {
    await this.#options.assertIn(person)
    return keyboardsFor(this.#db, person)
  }

  /** The ephemeral messages that this person received or sent, newest first. */
  async ephemeral(person: number): Promise<Message[]> {
    await this.#options.assertIn(person)
    return ephemeralFor(this.#db, person)
  }

  /** The drafts that other people show to this person. */
  async drafts(person: number): Promise<ShownDraft[]> {
    await this.#options.assertIn(person)
    return draftsFor(this.#db, person, this.#options.now())
  }

  /** Stops a draft that an account shows to this person. */
  async stopDraft(person: number, writer: number, draft: number): Promise<void> {
    const { assertIn } = this.#options
    await Promise.all([assertIn(person), assertIn(writer)])
    await stopDraft(this.#options, person, writer, draft)
  }
}
