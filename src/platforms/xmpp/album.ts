/** Several files, one message each, that belong together. The network has no word for it: others see them one by one. */
import { type Element, xml } from '@xmpp/client'
import type { Message } from '../../../machines/model/content.ts'
import { RequestFailed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import type { Carried, Written } from './content.ts'
import { ns } from './namespaces.ts'
import type { Place } from './places.ts'
import { textMessage } from './writing.ts'

const longestKey = 64

type SendAlbum = Extract<Operation, { kind: 'send_album' }>

/** Uploads everything before anything is sent. */
export async function sendAlbum(
  place: Place,
  { contents, replyTo }: SendAlbum,
  id: string,
  write: (carried: Carried) => Promise<Written>,
  signal: AbortSignal,
): Promise<OperationResult> {
  const items: Written[] = []
  for (const content of contents) items.push(await write({ content }))
  const messages: Message[] = []
  for (const [index, item] of items.entries()) {
    const isReply = replyTo !== undefined && index === 0
    // The same names by which the log knows what was sent, should the archive tell of it again.
    const envelope = place.envelope(index === 0 ? id : `${id}:${index}`)
    const text = { ...item, extras: [xml('album', { xmlns: ns.album, id })] }
    const stanza = textMessage(envelope, text, isReply && { replyTo })
    const posted = await place.post(stanza, signal).catch((cause) => {
      throw index === 0 ? cause : inParts(cause)
    })
    const reply = isReply && { replyTo: { native: replyTo } }
    messages.push({
      chat: place.chat,
      from: place.self,
      content: item.shown,
      album: id,
      ...posted,
      ...reply,
    })
  }
  return { kind: 'messages', messages }
}

/** Some of it is sent: the same request again sends the rest. */
function inParts(cause: unknown): unknown {
  if (!(cause instanceof RequestFailed)) return cause
  return new RequestFailed({ ...cause.failure, certain: false }, { cause })
}

/** Which messages the writer sent together. */
export function albumOf(message: Element): Pick<Message, 'album'> {
  const album = message.getChild('album', ns.album)?.attrs.id?.slice(0, longestKey)
  return album ? { album } : {}
}
