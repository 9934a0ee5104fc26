/** The columns of people, chats and messages as one JSON object each, so that a row can carry several of them. */

export interface PersonCard {
  readonly id: number
  readonly first_name: string
  readonly last_name: string | null
  readonly username: string | null
  readonly language_code: string | null
}

export interface ChatCard {
  readonly id: number
  readonly kind: 'private' | 'group' | 'supergroup' | 'channel'
  readonly native: number | null
  readonly title: string | null
  readonly username: string | null
  readonly description: string | null
  readonly is_forum: boolean
}

export interface MessageCard {
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
}

const columns = {
  person: ['id', 'first_name', 'last_name', 'username', 'language_code'],
  chat: ['id', 'kind', 'native', 'title', 'username', 'description', 'is_forum'],
  message: [
    ...['chat_id', 'id', 'sender_id', 'version', 'content', 'reply_to', 'forward', 'buttons'],
    ...['album', 'is_protected', 'topic'],
  ],
}

const card = (alias: string, names: readonly string[], more = '') =>
  `jsonb_build_object(${names.map((name) => `'${name}', ${alias}.${name}`).join(', ')}${more})`

const seconds = (alias: string, name: string) =>
  `, '${name}', floor(extract(epoch from ${alias}.${name}))::bigint`

const unlessMissing = (alias: string, built: string) =>
  `case when ${alias}.id is not null then ${built} end`

export const personCard = (alias: string) => unlessMissing(alias, card(alias, columns.person))

export const chatCard = (alias: string) => card(alias, columns.chat)

export const messageCard = (alias: string) =>
  unlessMissing(
    alias,
    card(alias, columns.message, seconds(alias, 'at') + seconds(alias, 'edited_at')),
  )

/** What is needed to show one message to one person. */
export interface View {
  readonly message: MessageCard
  readonly sender: PersonCard
  readonly chat: ChatCard
  /** The other side of a private chat. */
  readonly other: PersonCard | null
  /** Of a message in a topic that answers nothing: the message that began the topic. */
  readonly reply: MessageCard | null
  readonly reply_sender: PersonCard | null
}

/** One row by its key, whatever the planner thinks: a plan made while a table was small outlives its growth. */
export const byKey = (table: string, condition: string) =>
  `lateral (select * from ${table} x where ${condition} limit 1)`

/** The cards around a message, for a row source with its ids and those of its reply and topic, and a viewer's id. */
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
  ${personCard('s')} as sender, ${chatCard('c')} as chat, ${personCard('o')} as other,
  ${messageCard('r')} as reply, ${personCard('rs')} as reply_sender`
