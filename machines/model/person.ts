/** A person or a bot of a network, communities, and details of a chat that only few networks have. */

export interface Person {
  readonly native: string
  readonly firstName: string
  readonly lastName?: string
  readonly username?: string
  readonly languageCode?: string
  readonly isBot?: boolean
  /** Has paid for the network's additional features, or was given them. */
  readonly isPremium?: boolean
}

/** Chats and bots that belong together. */
export interface Community {
  readonly id: number
  readonly name: string
}

export interface ChatDetails {
  readonly community?: Community
  /** It is the direct messages of a channel. */
  readonly isDirect?: boolean
  /** Only for the direct messages of a channel: the person who writes to it. */
  readonly directWith?: Person
  /** The name of the supergroup's sticker set. */
  readonly stickerSet?: string
  /** Whether this account may set it. */
  readonly maySetStickers?: boolean
  /** How long an ordinary member of the supergroup waits between two messages. Absent: not at all. */
  readonly slowSeconds?: number
  /** Only for a private chat: the person's status; `until` is Unix time in seconds. */
  readonly emojiStatus?: { readonly customEmojiId: string; readonly until?: number }
}
