/** Reads rich messages into blocks in the reference's words. An unknown block becomes a paragraph of its text. */
import type { tl } from '@mtcute/node'
import type { Media } from '../../../../machines/model/media.ts'
import type {
  RichBlock,
  RichCaption,
  RichCell,
  RichListItem,
  RichMessage,
  RichText,
} from '../../../../machines/model/rich.ts'
import { timeFormatOf } from '../entities.ts'
import { documentOf, photoOf, type Shown } from './media.ts'
import { personById, type View } from './peers.ts'

/** The files of the message, by their numbers on the network. */
interface Sight {
  readonly view: View
  readonly files: ReadonlyMap<string, Media>
}

export function richOf(
  { blocks, photos, documents, rtl }: tl.TypeRichMessage,
  shown: Shown,
  view: View,
): RichMessage {
  const found = [
    ...photos.map((photo) => [photo.id.toString(), photoOf(photo, shown)] as const),
    ...documents.map((document) => [document.id.toString(), documentOf(document, shown)] as const),
  ]
  const files = new Map(found.flatMap(([id, media]) => (media ? [[id, media] as const] : [])))
  return { blocks: blocksOf(blocks, { view, files }), ...(rtl && { isRtl: true }) }
}

const blocksOf = (blocks: readonly tl.TypePageBlock[], sight: Sight): readonly RichBlock[] =>
  blocks.flatMap((block) => blockOf(block, sight) ?? [])

/** The level of each heading. */
const HEADINGS: Readonly<Record<string, number>> = {
  ...{ pageBlockTitle: 1, pageBlockHeader: 2, pageBlockSubtitle: 2, pageBlockSubheader: 3 },
  ...{ pageBlockHeading1: 1, pageBlockHeading2: 2, pageBlockHeading3: 3 },
  ...{ pageBlockHeading4: 4, pageBlockHeading5: 5, pageBlockHeading6: 6 },
}

function blockOf(block: tl.TypePageBlock, sight: Sight): RichBlock | undefined {
  const size = HEADINGS[block._]
  if (size !== undefined && 'text' in block) {
    return { type: 'heading', text: textIn(block.text, sight), size }
  }
  switch (block._) {
    case 'pageBlockPreformatted': {
      const language = block.language && { language: block.language }
      return { type: 'pre', text: textIn(block.text, sight), ...language }
    }
    case 'pageBlockFooter':
      return { type: 'footer', text: textIn(block.text, sight) }
    case 'pageBlockThinking':
      return { type: 'thinking', text: textIn(block.text, sight) }
    case 'pageBlockDivider':
      return { type: 'divider' }
    case 'pageBlockAnchor':
      return { type: 'anchor', name: block.name }
    case 'pageBlockMath':
      return { type: 'mathematical_expression', expression: block.source }
    case 'pageBlockList':
      return { type: 'list', items: block.items.map((item) => itemOf(item, '•', sight)) }
    case 'pageBlockOrderedList':
      return { type: 'list', items: orderedOf(block, sight) }
    case 'pageBlockTable':
      return tableOf(block, sight)
    default:
      return holderOf(block, sight) ?? fileOf(block, sight) ?? paragraphOf(block, sight)
  }
}

function paragraphOf(block: tl.TypePageBlock, sight: Sight): RichBlock | undefined {
  return 'text' in block ? { type: 'paragraph', text: textIn(block.text, sight) } : undefined
}

/** Blocks around others, and around a text. */
function holderOf(block: tl.TypePageBlock, sight: Sight): RichBlock | undefined {
  switch (block._) {
    case 'pageBlockBlockquote': {
      const text = { type: 'paragraph', text: textIn(block.text, sight) }
      return { type: 'blockquote', blocks: [text], ...creditOf(block.caption, sight) }
    }
    case 'pageBlockBlockquoteBlocks': {
      const blocks = blocksOf(block.blocks, sight)
      return { type: 'blockquote', blocks, ...creditOf(block.caption, sight) }
    }
    case 'pageBlockPullquote': {
      const text = textIn(block.text, sight)
      return { type: 'pullquote', text, ...creditOf(block.caption, sight) }
    }
    case 'pageBlockDetails': {
      const summary = textIn(block.title, sight)
      const open = block.open && { is_open: true as const }
      return { type: 'details', summary, blocks: blocksOf(block.blocks, sight), ...open }
    }
    case 'pageBlockCollage':
    case 'pageBlockSlideshow': {
      const type = block._ === 'pageBlockCollage' ? 'collage' : 'slideshow'
      return { type, blocks: blocksOf(block.items, sight), ...captionOf(block.caption, sight) }
    }
    default:
      return undefined
  }
}

/** Blocks that show a file or a place. */
function fileOf(block: tl.TypePageBlock, sight: Sight): RichBlock | undefined {
  switch (block._) {
    case 'pageBlockPhoto':
      return mediaBlock(block.photoId, block, sight)
    case 'pageBlockVideo':
      return mediaBlock(block.videoId, block, sight)
    case 'pageBlockAudio':
      return mediaBlock(block.audioId, block, sight)
    case 'pageBlockMap': {
      const { geo, zoom, w: width, h: height, caption } = block
      if (geo._ !== 'geoPoint') return undefined
      const location = { latitude: geo.lat, longitude: geo.long }
      return { type: 'map', location, zoom, width, height, ...captionOf(caption, sight) }
    }
    default:
      return undefined
  }
}

interface Captioned {
  readonly caption: tl.TypePageCaption
  readonly spoiler?: boolean
}

function mediaBlock(
  id: tl.Long,
  { caption, spoiler }: Captioned,
  sight: Sight,
): RichBlock | undefined {
  const media = sight.files.get(id.toString())
  if (!media && isEmpty(caption.text)) return undefined
  if (!media) return { type: 'paragraph', text: textIn(caption.text, sight) }
  const type = media.kind === 'voice' ? 'voice_note' : media.kind
  const hidden = spoiler && { has_spoiler: true as const }
  return { type, media, ...hidden, ...captionOf(caption, sight) }
}

const isEmpty = (text: tl.TypeRichText) => text._ === 'textEmpty'

function captionOf(
  { text, credit }: tl.TypePageCaption,
  sight: Sight,
): { readonly caption?: RichCaption } {
  if (isEmpty(text) && isEmpty(credit)) return {}
  return { caption: { text: textIn(text, sight), ...creditOf(credit, sight) } }
}

const creditOf = (credit: tl.TypeRichText, sight: Sight) =>
  isEmpty(credit) ? {} : { credit: textIn(credit, sight) }

type Item = tl.TypePageListItem | tl.TypePageListOrderedItem

function itemOf(item: Item, label: string, sight: Sight): RichListItem {
  const blocks =
    'blocks' in item
      ? blocksOf(item.blocks, sight)
      : [{ type: 'paragraph', text: textIn(item.text, sight) }]
  return {
    label,
    blocks,
    ...(item.checkbox && { has_checkbox: true }),
    ...(item.checked && { is_checked: true }),
    ...('value' in item && item.value !== undefined && { value: item.value }),
    ...('type' in item && item.type !== undefined && { type: item.type }),
  }
}

function orderedOf({ items, start = 1, reversed }: tl.RawPageBlockOrderedList, sight: Sight) {
  const step = reversed ? -1 : 1
  return items.map((item, place) => itemOf(item, item.num ?? `${start + step * place}.`, sight))
}

function tableOf(
  { title, rows, bordered, striped }: tl.RawPageBlockTable,
  sight: Sight,
): RichBlock {
  return {
    type: 'table',
    cells: rows.map(({ cells }) => cells.map((cell) => cellOf(cell, sight))),
    ...(bordered && { is_bordered: true }),
    ...(striped && { is_striped: true }),
    ...(!isEmpty(title) && { caption: textIn(title, sight) }),
  }
}

const cellOf = (cell: tl.TypePageTableCell, sight: Sight): RichCell => ({
  ...(cell.text && { text: textIn(cell.text, sight) }),
  ...(cell.header && { is_header: true }),
  ...(cell.colspan !== undefined && { colspan: cell.colspan }),
  ...(cell.rowspan !== undefined && { rowspan: cell.rowspan }),
  align: cell.alignCenter ? 'center' : cell.alignRight ? 'right' : 'left',
  valign: cell.valignMiddle ? 'middle' : cell.valignBottom ? 'bottom' : 'top',
})

/** Pieces that are only formatted. */
const FORMATS: Readonly<Record<string, string>> = {
  ...{ textBold: 'bold', textItalic: 'italic', textUnderline: 'underline' },
  ...{ textStrike: 'strikethrough', textFixed: 'code', textSpoiler: 'spoiler' },
  ...{ textSubscript: 'subscript', textSuperscript: 'superscript', textMarked: 'marked' },
}

/** Pieces whose words are what they name: the type, and the member that repeats the words. */
const NAMED: Readonly<Record<string, readonly [type: string, member: string]>> = {
  textMention: ['mention', 'username'],
  textHashtag: ['hashtag', 'hashtag'],
  textCashtag: ['cashtag', 'cashtag'],
  textBotCommand: ['bot_command', 'bot_command'],
  textBankCard: ['bank_card_number', 'bank_card_number'],
  textAutoUrl: ['url', 'url'],
  textAutoEmail: ['email_address', 'email_address'],
  textAutoPhone: ['phone_number', 'phone_number'],
}

function textIn(piece: tl.TypeRichText, sight: Sight): RichText {
  switch (piece._) {
    case 'textPlain':
      return piece.text
    case 'textConcat':
      return piece.texts.map((one) => textIn(one, sight))
    case 'textCustomEmoji': {
      const custom_emoji_id = piece.documentId.toString()
      return { type: 'custom_emoji', custom_emoji_id, alternative_text: piece.alt }
    }
    case 'textMath':
      return { type: 'mathematical_expression', expression: piece.source }
    case 'textEmpty':
    case 'textImage':
      return ''
  }
  const text = textIn(piece.text, sight)
  const format = FORMATS[piece._]
  if (format !== undefined) return { type: format, text }
  const named = NAMED[piece._]
  if (named) return { type: named[0], text, [named[1]]: wordsOf(text).replace(/^[@#$/]/, '') }
  return { ...linkOf(piece, sight), text } as RichText
}

type Marked = Extract<tl.TypeRichText, { readonly text: tl.TypeRichText }>

/** The type of a piece that leads somewhere, and where. */
function linkOf(piece: Marked, { view }: Sight): { readonly type: string } {
  switch (piece._) {
    case 'textUrl':
      return { type: 'url', ...{ url: piece.url } }
    case 'textEmail':
      return { type: 'email_address', ...{ email_address: piece.email } }
    case 'textPhone':
      return { type: 'phone_number', ...{ phone_number: piece.phone } }
    case 'textAnchor':
      return { type: 'reference', ...{ name: piece.name } }
    case 'textDate':
      return {
        type: 'date_time',
        ...{ unix_time: piece.date, date_time_format: timeFormatOf(piece) },
      }
    case 'textMentionName':
      return { type: 'text_mention', ...{ user: userOf(piece.userId, view) } }
    default:
      return { type: 'marked' }
  }
}

/** The people of this network have the reference's ids. */
function userOf(id: number, view: View) {
  const { firstName: first_name, lastName, username, isBot } = personById(id, view)
  return {
    ...{ id, is_bot: isBot ?? false, first_name },
    ...(lastName && { last_name: lastName }),
    ...(username && { username }),
  }
}

function wordsOf(text: RichText): string {
  if (typeof text === 'string') return text
  if ('type' in text) return text.text === undefined ? '' : wordsOf(text.text)
  return text.map(wordsOf).join('')
}
