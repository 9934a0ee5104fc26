/** A run of a message's text with a meaning, in the reference's shape; positions count UTF-16 units. */
export type MessageEntity = {
  type: EntityKind
  offset: number
  length: number
  url?: string
  user?: { id: number; is_bot: false; first_name: '' }
  language?: string
  custom_emoji_id?: string
  unix_time?: number
  date_time_format?: string
}

export type EntityKind = StyleKind | QuoteKind | CodeKind | RunKind | DetectedKind

/** Styles may overlap anything but code, so they are cut where other entities begin or end. */
export type StyleKind = 'bold' | 'italic' | 'underline' | 'strikethrough' | 'spoiler'
export type QuoteKind = 'blockquote' | 'expandable_blockquote'
/** Nothing may stand inside these. */
export type CodeKind = 'code' | 'pre' | 'date_time'
type RunKind = 'text_link' | 'text_mention' | 'custom_emoji'
/** Found in the text by the service itself, never taken from a sender. */
export type DetectedKind =
  | 'mention'
  | 'hashtag'
  | 'cashtag'
  | 'bot_command'
  | 'url'
  | 'email'
  | 'phone_number'

export type FormattedText = { text: string; entities: MessageEntity[] }
