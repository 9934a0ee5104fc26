/** Operations that answer people who use a bot: by buttons, in inline mode and in web apps. */
import type { Buttons, Key } from './buttons.ts'
import type { Content } from './content.ts'
import type { InlineButton, InlinePlace, InlineResult } from './inline.ts'
import type { Location } from './location.ts'
import type { Text } from './text.ts'

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
  /** Writes into the chat where somebody has named the bot, which is no member of it. */
  | { readonly kind: 'answer_guest'; readonly query: string; readonly result: InlineResult }
  /** `inline` is the id that the bot got of a message that was sent by way of it. */
  | { readonly kind: 'edit_inline'; readonly inline: string; readonly change: Change }

export type InlineOutcome =
  /** Unix time in seconds. */
  | { readonly kind: 'prepared'; readonly id: string; readonly expiresAt?: number }
  /** `inline` is absent where the message has no buttons. */
  | { readonly kind: 'sent_inline'; readonly inline?: string }
