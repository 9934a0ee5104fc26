/** Formatted texts, the previews of pages they link to, and quotes of them. */

/** A run of formatted text; `offset` and `length` count UTF-16 code units, `type` is the reference's name. */
export interface TextEntity {
  readonly type: string
  readonly offset: number
  readonly length: number
  readonly url?: string
  readonly language?: string
  readonly customEmojiId?: string
  /** Native id of the person a `text_mention` points to. */
  readonly person?: string
  /** Only for a `date_time`: the time in seconds, and the format in which readers see it. */
  readonly unixTime?: number
  readonly timeFormat?: string
}

export interface Text {
  readonly text: string
  readonly entities: readonly TextEntity[]
}

/** How the preview of a linked page is shown; absent: as the network does by itself. */
export interface Preview {
  readonly isOff?: boolean
  /** The page to preview, instead of the first one that the text links to. */
  readonly url?: string
  readonly size?: 'small' | 'large'
  readonly isAbove?: boolean
}

/** A part of a message that has a number of its own: `option` is the place of a poll's option. */
export type AnsweredPart = { readonly task: number } | { readonly option: number }

/** The part of a message that another one quotes. */
export interface Quote extends Text {
  /** Its offset in the text or the caption, in UTF-16 code units. */
  readonly position: number
  /** The author chose it; otherwise the network did. */
  readonly isManual?: boolean
}
