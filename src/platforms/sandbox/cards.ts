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
}

const columns = {
  person: ['id', 'first_name', 'last_name', 'username', 'language_code'],
  chat: ['id', 'kind', 'native', 'title', 'username', 'description'],
  message: ['chat_id', 'id', 'sender_id', 'version', 'content', 'reply_to', 'forward', 'buttons'],
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
  readonly reply: MessageCard | null
  readonly reply_sender: PersonCard | null
}

/** The cards around a message, for a row source with `chat_id`, `sender_id`, `reply_to` and a viewer's id. */
export const viewJoins = (message: string, viewer: string) => `
  join sandbox_chat c on c.id = ${message}.chat_id
  join sandbox_person s on s.id = ${message}.sender_id
  left join sandbox_person o
    on o.id = case when c.low_id = ${viewer} then c.high_id else c.low_id end
  left join sandbox_message r
    on r.chat_id = ${message}.chat_id and r.id = ${message}.reply_to and r.deleted_at is null
  left join sandbox_person rs on rs.id = r.sender_id`

export const viewColumns = `
  ${personCard('s')} as sender, ${chatCard('c')} as chat, ${personCard('o')} as other,
  ${messageCard('r')} as reply, ${personCard('rs')} as reply_sender`
