/** Rich messages: a document of blocks in the reference's words, with media in neutral terms. */
import type { Media } from './media.ts'

/** Plain words, a run of pieces, or one formatted piece whose `type` says how. */
export type RichText =
  | string
  | readonly RichText[]
  | { readonly type: string; readonly text?: RichText; readonly [member: string]: unknown }

export interface RichCaption {
  readonly text: RichText
  readonly credit?: RichText
}

export interface RichListItem {
  readonly label: string
  readonly blocks: readonly RichBlock[]
  readonly has_checkbox?: true
  readonly is_checked?: true
  readonly value?: number
  readonly type?: string
}

export interface RichCell {
  readonly text?: RichText
  readonly is_header?: true
  readonly colspan?: number
  readonly rowspan?: number
  readonly align: string
  readonly valign: string
}

/** The action of the button stands beside its text, in the reference's words. */
export interface RichButton {
  readonly text: RichText
  readonly url?: string
  readonly callback_data?: string
  readonly [member: string]: unknown
}

/** Its `type` says which of the members it has. */
export interface RichBlock {
  readonly type: string
  readonly text?: RichText
  readonly credit?: RichText
  readonly summary?: RichText
  readonly expression?: string
  readonly name?: string
  readonly size?: number
  readonly language?: string
  readonly blocks?: readonly RichBlock[]
  readonly items?: readonly RichListItem[]
  readonly cells?: readonly (readonly RichCell[])[]
  readonly buttons?: readonly RichButton[]
  /** A text for a table; a text with its author for other blocks. */
  readonly caption?: RichText | RichCaption
  readonly location?: { readonly latitude: number; readonly longitude: number }
  readonly media?: Media
  readonly has_spoiler?: true
  readonly [member: string]: unknown
}

export interface RichMessage {
  readonly blocks: readonly RichBlock[]
  readonly isRtl?: boolean
}
