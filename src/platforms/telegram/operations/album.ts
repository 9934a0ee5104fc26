/** Sends several files as one album; a repeated request resolves with the album that was sent before. */
import type { tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import type { Content, Message } from '../../../../machines/model/content.ts'
import type { OperationOf } from '../../../../machines/model/operation.ts'
import { inputMediaOf, storedMedia } from '../writing/media.ts'
import {
  type Context,
  messagesIn,
  noteLocations,
  randomId,
  sendOptions,
  writtenText,
} from './context.ts'
import { isRepeated, newest, unidentified } from './repeated.ts'
import { assertSendable, deliveryOf, withOptionalReply } from './send.ts'

type Item = OperationOf<'send_album'>['contents'][number]

export const albums: Handlers<Context> = {
  async send_album(context, operation) {
    const { chat, contents } = operation
    for (const content of contents) assertSendable(content)
    const peer = await context.calls.peer(chat, context.signal)
    const messages = await withOptionalReply(context, operation, async (reply) => {
      const multiMedia: tl.RawInputSingleMedia[] = []
      for (const [place, item] of contents.entries()) {
        multiMedia.push(await single(context, peer, item, place))
      }
      const request = { _: 'messages.sendMultiMedia', peer, multiMedia, ...reply } as const
      // The network has one position for all captions of an album.
      const above = contents.some(({ captionAbove }) => captionAbove) && { invertMedia: true }
      const result = await context.calls.call(
        { ...request, multiMedia, ...above, ...deliveryOf(operation) },
        sendOptions(context, chat),
      )
      return messagesIn(context.calls.take(result), context.self)
    }).catch((cause) => sentBefore(context, peer, contents, cause))
    if (messages.length !== contents.length) throw unidentified()
    noteLocations(context, messages)
    return { kind: 'messages', messages }
  },
}

/** An album may only contain files that the network has stored already. */
async function single(
  context: Context,
  peer: tl.TypeInputPeer,
  item: Item,
  place: number,
): Promise<tl.RawInputSingleMedia> {
  const { media } = await inputMediaOf(context, item)
  const entities = await writtenText(context, item.caption)
  return {
    _: 'inputSingleMedia',
    media: await storedMedia(context, peer, media),
    randomId: randomId(context.requestId, place),
    message: item.caption.text,
    ...(entities.length > 0 && { entities }),
  }
}

async function sentBefore(
  context: Context,
  peer: tl.TypeInputPeer,
  contents: readonly Item[],
  cause: unknown,
): Promise<Message[]> {
  if (!isRepeated(cause)) throw cause
  const own = await newest(context, peer)
  const last = own.find(({ content }) => captionOf(content) === captionOf(contents.at(-1)))
  const album = own.filter(
    (message) => message.album !== undefined && message.album === last?.album,
  )
  if (album.length !== contents.length) throw unidentified(cause)
  return album.reverse()
}

const captionOf = (content: Content | undefined) =>
  content?.kind === 'media' ? content.caption.text : undefined
