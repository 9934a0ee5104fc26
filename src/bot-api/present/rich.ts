/** Rich messages in the reference's JSON. */
import type { RichBlock, RichListItem, RichMessage } from '../../../machines/model/rich.ts'
import type { Names } from './chat.ts'
import { memberOf } from './content.ts'

export const richJson = ({ blocks, isRtl }: RichMessage, ids: Names): object => ({
  blocks: blocks.map((block) => blockJson(block, ids)),
  ...(isRtl && { is_rtl: true }),
})

function blockJson(block: RichBlock, ids: Names): object {
  const { media, blocks, items, ...rest } = block
  return {
    ...rest,
    ...(media && { [block.type]: fileJson(block.type, media, ids) }),
    ...(blocks && { blocks: blocks.map((one) => blockJson(one, ids)) }),
    ...(items && { items: items.map((item) => itemJson(item, ids)) }),
  }
}

const itemJson = (item: RichListItem, ids: Names) => ({
  ...item,
  blocks: item.blocks.map((block) => blockJson(block, ids)),
})

/** A file stands under the name of its block, as that of a message stands under the name of its kind. */
function fileJson(type: string, media: NonNullable<RichBlock['media']>, ids: Names): unknown {
  const shown: Readonly<Record<string, unknown>> = { ...memberOf(media, ids) }
  return shown[type === 'voice_note' ? 'voice' : type] ?? shown[media.kind]
}
