/** A sticker set, asked for by its name. */
import type { Operation } from '../../../../machines/model/operation.ts'
import { stickerSetOf } from '../reading/media.ts'
import type { Call } from './call.ts'

export const stickerSetCall = ({
  name,
}: Extract<Operation, { readonly kind: 'sticker_set' }>): Call => ({
  method: 'getStickerSet',
  parameters: { name },
  read: (result) => ({ kind: 'stickers', set: stickerSetOf(result) }),
})
