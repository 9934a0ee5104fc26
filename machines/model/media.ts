/** Files in messages: photos, videos, music, documents, and what stickers are beside their files. */

/** Bytes that are on the network already, or that wait in the gateway's store to be sent there. */
export type FileRef =
  /** How the platform finds the bytes again; opaque outside it. */
  { readonly native: string } | { readonly blob: string }

export const MEDIA_KINDS = [
  'photo',
  'video',
  'animation',
  'audio',
  'voice',
  'video_note',
  'document',
  'sticker',
] as const

export type MediaKind = (typeof MEDIA_KINDS)[number]

/** The widest that bot libraries hold in most numbers: a larger one costs a bot the whole batch of updates. */
export const LARGEST_INTEGER = 2 ** 31 - 1

export interface Media {
  readonly kind: MediaKind
  readonly file: FileRef
  /** The network's name for these bytes, the same for every account; absent if it has none. */
  readonly unique?: string
  readonly size?: number
  readonly mime?: string
  readonly name?: string
  readonly durationSeconds?: number
  readonly width?: number
  readonly height?: number
  readonly title?: string
  readonly performer?: string
  readonly emoji?: string
  /** The sticker set that a sticker belongs to. */
  readonly setName?: string
  /** Only for a sticker; absent: `regular`. */
  readonly stickerType?: StickerType
  readonly mask?: MaskPosition
  readonly customEmojiId?: string
  /** Only for a custom emoji: it takes the colour of the text around it. */
  readonly needsRepainting?: boolean
  readonly thumbnail?: Media
  /** Only for a live photo: the video of the seconds around it. */
  readonly live?: Media
  /** Only for a video: the second from which it is played. */
  readonly startSeconds?: number
  /** Only for a video: the photo that stands for it in the chat. */
  readonly cover?: Media
  /** Only for a photo: its smaller sizes, smallest first; the media itself is the largest. */
  readonly sizes?: readonly Media[]
}

export type StickerType = 'regular' | 'mask' | 'custom_emoji'

/** The position of a mask on a face: shifts in widths and heights of the mask. */
export interface MaskPosition {
  readonly point: 'forehead' | 'eyes' | 'mouth' | 'chin'
  readonly xShift: number
  readonly yShift: number
  readonly scale: number
}

export interface StickerSet {
  readonly name: string
  readonly title: string
  /** Absent: `regular`. */
  readonly type?: StickerType
  readonly thumbnail?: Media
  readonly stickers: readonly Media[]
}
