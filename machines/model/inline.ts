/** Inline mode: the results that a bot offers to a person who writes its name, in the terms of no particular network. */
import type { Buttons } from './buttons.ts'
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

/** What a person wrote after the bot's name. */
export interface InlineQuery {
  readonly text: string
  readonly offset: string
  readonly place: InlinePlace
  readonly location?: Location
}
