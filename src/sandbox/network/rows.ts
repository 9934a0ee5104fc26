/** People, chats and messages as JSON in SQL: each is one object, so that a row can carry several of them. */
import type { Permission } from '../../../machines/model/rights.ts'

/** The person that sends the one-time codes. It is in every network, and no user acts as it. */
export const SERVICE_PERSON = 777_000

export interface PersonRow {
  readonly id: number
  readonly first_name: string
  readonly last_name: string | null
  readonly username: string | null
  readonly language_code: string | null
  readonly is_premium?: boolean
  /** Made for an account that manages it. */
  readonly is_bot?: boolean
}

export interface ChatRow {
  readonly id: number
  readonly kind: 'private' | 'group' | 'supergroup' | 'channel'
  readonly native: number | null
  readonly title: string | null
  readonly username: string | null
  readonly description: string | null
  readonly is_forum: boolean
  /** Of a small group: the permissions of its members, where they are limited. */
  readonly permissions?: readonly Permission[] | null
  /** Only for the direct messages of a channel: the person who writes to it. */
  readonly direct?: PersonRow | null
}

export interface MessageRow {
  readonly chat_id: number
  readonly id: number
  readonly sender_id: number
  readonly at: number
  readonly edited_at: number | null
  readonly version: number
  readonly content: unknown
  readonly reply_to: number | null
  readonly forward: unknown
  readonly buttons: unknown
  readonly album: string | null
  readonly is_protected: boolean
  readonly topic: number | null
  readonly attributes: unknown
}

const columns = {
  person: ['id', 'first_name', 'last_name', 'username', 'language_code'],
  chat: ['id', 'kind', 'native', 'title', 'username', 'description', 'is_forum'],
  message: [
    ...['chat_id', 'id', 'sender_id', 'version', 'content', 'reply_to', 'forward', 'buttons'],
    ...['album', 'is_protected', 'topic', 'attributes'],
  ],
}

const json = (alias: string, names: readonly string[], more = '') =>
  `jsonb_build_object(${names.map((name) => `'${name}', ${alias}.${name}`).join(', ')}${more})`

const seconds = (alias: string, name: string) =>
  `, '${name}', floor(extract(epoch from ${alias}.${name}))::bigint`

const unlessMissing = (alias: string, built: string) =>
  `case when ${alias}.id is not null then ${built} end`

export const personJson = (alias: string) =>
  unlessMissing(
    alias,
    json(
      alias,
      columns.person,
      `, 'is_premium', coalesce(${alias}.premium_until > now(), false),
      'is_bot', exists (select from sandbox_managed_bot where bot_id = ${alias}.id)`,
    ),
  )

export const chatJson = (alias: string) =>
  json(
    alias,
    columns.chat,
    `, 'permissions', case when ${alias}.kind = 'group' then ${alias}.permissions end,
    'direct', case when ${alias}.direct_of is not null then
      (select ${personJson('dp')} from sandbox_person dp where dp.id = ${alias}.direct_person) end`,
  )

/** The same of a private chat, which has none of these. */
export const privateChatJson = (alias: string) => json(alias, columns.chat)

export const messageJson = (alias: string) =>
  unlessMissing(
    alias,
    json(alias, columns.message, seconds(alias, 'at') + seconds(alias, 'edited_at')),
  )

/** One message with all that it takes to show it to one person. */
export interface MessageView {
  readonly message: MessageRow
  readonly sender: PersonRow
  readonly chat: ChatRow
  /** The other side of a private chat. */
  readonly other: PersonRow | null
  /** The message answered; in a topic otherwise the message that began the topic. */
  readonly reply: MessageRow | null
  readonly reply_sender: PersonRow | null
  /** The message that a service message is about, where `aboutJoins` has looked for it. */
  readonly about?: MessageRow | null
  readonly about_sender?: PersonRow | null
}

/** A message in the queue of a person, as this person sees it. */
export interface QueuedMessage extends MessageView {
  readonly person: number
  /** Its number in the queue. */
  readonly seq: number
  /** The device that sent it. */
  readonly session: number | null
}

/** Reads one row by its key. Without the limit the planner may keep a plan that it made while the table was small. */
export const byKey = (table: string, condition: string) =>
  `lateral (select * from ${table} x where ${condition} limit 1)`

/** Joins the rows around a message. `message`: a row source with the ids of the message, its reply and its topic. */
export const viewJoins = (message: string, viewer: string) => `
  cross join ${byKey('sandbox_chat', `x.id = ${message}.chat_id`)} c
  cross join ${byKey('sandbox_person', `x.id = ${message}.sender_id`)} s
  left join ${byKey(
    'sandbox_person',
    `x.id = case when c.low_id = ${viewer} then c.high_id else c.low_id end`,
  )} o on true
  left join ${byKey(
    'sandbox_message',
    `x.chat_id = ${message}.chat_id and x.deleted_at is null
      and x.id = coalesce(${message}.reply_to, ${message}.topic)`,
  )} r on true
  left join ${byKey('sandbox_person', 'x.id = r.sender_id')} rs on true`

export const viewColumns = `
  ${personJson('s')} as sender, ${chatJson('c')} as chat, ${personJson('o')} as other,
  ${messageJson('r')} as reply, ${personJson('rs')} as reply_sender`

/** Joins the message that a service message with this content is about. */
export const aboutJoins = (chat: string, content: string) => `
  left join ${byKey(
    'sandbox_message',
    `x.chat_id = ${chat} and x.deleted_at is null and x.id =
      case when ${content} ->> 'kind' = 'service'
        then substring(${content} ->> 'message' from '^[0-9]{1,18}$')::bigint end`,
  )} ab on true
  left join ${byKey('sandbox_person', 'x.id = ab.sender_id')} aw on true`

export const aboutColumns = `${messageJson('ab')} as about, ${personJson('aw')} as about_sender`

/** Whether the chat `c` is `native` to `me`: a private chat by its two people, any other by its id in the network of `me`. */
export const chatCondition = (me: string, native: string) => `(
  (c.native = ${native}::bigint
    and c.user_id = (select user_id from sandbox_person where id = ${me}::bigint)) or
  (c.low_id = least(${me}::bigint, ${native}::bigint)
    and c.high_id = greatest(${me}::bigint, ${native}::bigint)))`

/** The ephemeral messages `e` as rows of messages, so that they are shown like any other. */
export const asMessage = (e: string) => `lateral jsonb_populate_record(null::sandbox_message,
    to_jsonb(${e}) || jsonb_build_object('id', 0, 'attributes', jsonb_build_object('ephemeral',
      jsonb_strip_nulls(jsonb_build_object('id', ${e}.ephemeral_id::text,
        'replaces', ${e}.replaces::text,
        'receiver', (select jsonb_build_object('native', r.id::text, 'firstName', r.first_name,
            'lastName', r.last_name, 'username', r.username, 'languageCode', r.language_code)
          from sandbox_person r where r.id = ${e}.receiver_id))))))`
