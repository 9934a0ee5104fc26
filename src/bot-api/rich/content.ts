/** The rich message of a call: read from blocks, HTML or Markdown, and rendered where the network has none. */
import type { Content } from '../../../machines/model/content.ts'
import { badRequest } from '../../../machines/model/failure.ts'
import type { MediaKind } from '../../../machines/model/media.ts'
import type { RichBlock } from '../../../machines/model/rich.ts'
import { Arguments } from '../arguments.ts'
import { mediaOf } from '../media.ts'
import type { Call } from '../method.ts'
import { blocksOfHtml, type FindMedia, type GivenBlock } from './html.ts'
import { blocksOfMarkdown } from './markdown.ts'
import { BlockReader, type ReadMedia } from './read.ts'
import { renderRich } from './render.ts'

/** Characters of all texts together. */
const MOST_CHARACTERS = 32_768
/** Characters of HTML or Markdown, with its marks. */
const MOST_WRITTEN = 4 * MOST_CHARACTERS

type Given = Readonly<Record<string, unknown>>

/** The parameter `rich_message` as a content that the platform can carry. */
export async function richContent(call: Call): Promise<Content> {
  const { blocks, isRtl } = await richMessageOf(call)
  if (call.platform.capabilities.content.includes('rich')) {
    return { kind: 'rich', blocks, ...(isRtl && { isRtl }) }
  }
  return rendered(call, blocks)
}

/** A text message without files, or the caption of a single file. */
function rendered({ platform }: Call, blocks: readonly RichBlock[]): Content {
  // The network leaves out marks that it has not, and writes the targets of links out.
  const { media, ...words } = renderRich(blocks)
  const [first] = media
  if (!first) return { kind: 'text', ...words }
  if (media.length > 1) {
    const reason = `the network shows one file in a message, and it has ${media.length}`
    throw badRequest(`parameter "rich_message" is not supported on ${platform.name}: ${reason}`)
  }
  return { kind: 'media', media: first, caption: words }
}

export async function richMessageOf(call: Call) {
  const value = call.args.json('rich_message')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest("can't parse rich message JSON object")
  }
  const given = value as Given
  const forms = ['blocks', 'html', 'markdown'].filter((name) => given[name] != null)
  if (forms.length !== 1) throw badRequest('rich message needs one of blocks, html and markdown')
  const read: ReadMedia = (type, block) => readMedia(call, type, block)
  const blocks = await new BlockReader(read).blocks(blocksIn(given))
  const { text } = renderRich(blocks)
  const isEmpty = text.trim() === '' && !JSON.stringify(blocks).includes('"media"')
  if (blocks.length === 0 || isEmpty) throw badRequest('message text is empty')
  if (text.length > MOST_CHARACTERS) throw badRequest('message is too long')
  return { blocks, isRtl: given.is_rtl === true }
}

function blocksIn(given: Given): unknown {
  if (given.blocks != null) return given.blocks
  const written = given.html ?? given.markdown
  if (typeof written === 'string' && written.length > MOST_WRITTEN)
    throw badRequest('message is too long')
  const media = mediaNamed(given.media)
  if (typeof given.html === 'string') return blocksOfHtml(given.html, media)
  if (typeof given.markdown === 'string') return blocksOfMarkdown(given.markdown, media)
  throw badRequest('field "html" and "markdown" must be of type String')
}

/** The media that HTML and Markdown name by `tg://photo?id=…`; any other source is an address. */
function mediaNamed(list: unknown): FindMedia {
  const named = new Map<unknown, Given>()
  if (list != null && !Array.isArray(list))
    throw badRequest('expected an Array of InputRichMessageMedia')
  for (const { id, media } of (list ?? []) as { id?: unknown; media?: Given }[]) {
    if (typeof id === 'string' && media) named.set(id, media)
  }
  return (kind, source): GivenBlock => {
    const [, id] = /^tg:\/\/\w+\?id=(.+)$/.exec(source) ?? []
    if (id === undefined) return { type: kind, [kind]: { type: kind, media: source } }
    const media = named.get(id)
    if (!media) throw badRequest(`rich message media "${id}" not found`)
    const type = typeof media.type === 'string' ? media.type : kind
    return { type, [type]: media }
  }
}

async function readMedia(call: Call, type: string, given: Given): Promise<Partial<RichBlock>> {
  const kind = (type === 'voice_note' ? 'voice' : type) as MediaKind
  const media = await mediaOf(call, kind, 'media', Arguments.from(given))
  return { media, ...(given.has_spoiler === true && { has_spoiler: true }) }
}
