/** What stickers are beside their files. */

export type StickerType = 'regular' | 'mask' | 'custom_emoji'

/** Where a mask is put on a face: shifts in widths and heights of the mask. */
export interface MaskPosition {
  readonly point: 'forehead' | 'eyes' | 'mouth' | 'chin'
  readonly xShift: number
  readonly yShift: number
  readonly scale: number
}
