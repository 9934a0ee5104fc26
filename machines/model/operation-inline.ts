/** How people use a bot: by buttons, in inline and guest mode and in web apps; and the operations that answer them. */
import type { Buttons, Key } from './buttons.ts'
import type { Content } from './content.ts'
import type { Location } from './location.ts'
import type { MediaKind } from './media.ts'
import type { Text } from './text.ts'

/** The chat in which a person writes to a bot in inline mode; `sender`: the private chat with the bot itself. */
export type InlinePlace = 'sender' | 'private' | 'group' | 'supergroup' | 'channel'

/** A file that is fetched from the web once a person picks it. */
export interface WebMedia {
  readonly kind: 'web_media'
  readonly media: MediaKind
  readonly url: string
  readonly caption: Text
  readonly captionAbove?: boolean
  readonly mime?: string
  /** Figures by the bot; those in the bytes count more. */
  readonly hints: {
    readonly durationSeconds?: number
    readonly width?: number
    readonly height?: number
    readonly title?: string
    readonly performer?: string
  }
}

export interface InlineResult {
  readonly id: string
  /** The reference's name: `article`, `photo`, `mpeg4_gif` … */
  readonly type: string
  readonly title?: string
  readonly description?: string
  readonly url?: string
  readonly thumbnailUrl?: string
  /** The message that is sent when a person picks the result. */
  readonly content: Content | WebMedia
  readonly buttons?: Buttons
}

/** Stands above the results: opens the private chat with the bot, or a web app. */
export type InlineButton =
  | { readonly text: string; readonly start: string }
  | { readonly text: string; readonly webApp: string }

/** The text that a person wrote after the bot's name. */
export interface InlineQuery {
  readonly text: string
  readonly offset: string
  readonly place: InlinePlace
  readonly location?: Location
}

export const INLINE_OPERATIONS = [
  'answer_inline',
  'prepare_inline',
  'answer_web_app',
  'answer_guest',
  'edit_inline',
  'prepare_key',
] as const

/** An edit of a message, wherever the message stands. */
export type Change = { readonly buttons?: Buttons } & (
  | { readonly kind: 'edit'; readonly content: Content }
  | { readonly kind: 'edit_caption'; readonly caption: Text; readonly captionAbove?: boolean }
  | { readonly kind: 'edit_buttons' }
  | {
      readonly kind: 'edit_location'
      /** Absent: the location stops being live. */
      readonly location?: Location
    }
)

export type InlineOperation<Place> =
  /** Answers a pressed button. */
  | {
      readonly kind: 'answer'
      readonly callback: string
      readonly text?: string
      readonly alert?: boolean
      readonly url?: string
    }
  | {
      readonly kind: 'answer_inline'
      readonly query: string
      readonly results: readonly InlineResult[]
      /** How long other queries with the same text get this answer. */
      readonly cacheSeconds: number
      /** Only for the person who asked. */
      readonly isPersonal: boolean
      /** Empty: there are no more results. */
      readonly nextOffset: string
      readonly button?: InlineButton
    }
  /** Keeps a message for a person, who sends it later. */
  | {
      readonly kind: 'prepare_inline'
      readonly person: Place
      readonly result: InlineResult
      readonly places: readonly InlinePlace[]
    }
  /** Keeps a key of a keyboard for a person, who uses it within a web app. */
  | { readonly kind: 'prepare_key'; readonly person: Place; readonly key: Key }
  /** Sends a message for the person who has a web app open. */
  | { readonly kind: 'answer_web_app'; readonly query: string; readonly result: InlineResult }
  /** Writes into a chat in which a person has named the bot, although the bot is no member. */
  | { readonly kind: 'answer_guest'; readonly query: string; readonly result: InlineResult }
  /** `inline` is the id that the bot got of a message that was sent by way of it. */
  | { readonly kind: 'edit_inline'; readonly inline: string; readonly change: Change }

export type InlineOutcome =
  /** Unix time in seconds. */
  | { readonly kind: 'prepared'; readonly id: string; readonly expiresAt?: number }
  /** `inline` is absent where the message has no buttons. */
  | { readonly kind: 'sent_inline'; readonly inline?: string }
