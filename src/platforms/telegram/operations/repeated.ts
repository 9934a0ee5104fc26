/** Finds the message of a request that was carried out before and whose answer got lost. */
import { Long, PeersIndex, type tl } from '@mtcute/node'
import type { Content, Message } from '../../../../machines/model/content.ts'
import { refusalOf } from '../failures.ts'
import { messageOf } from '../reading/message.ts'
import { type Context, readOptions, untold } from './context.ts'

const NEWEST = 50

interface Sought {
  readonly peer: tl.TypeInputPeer
  readonly content: Content
}

/** The network does not say which message used a number: take the newest one with the same text. */
export async function repeated(
  context: Context,
  { peer, content }: Sought,
  send: () => Promise<Message>,
): Promise<Message> {
  try {
    return await send()
  } catch (cause) {
    if (!isRepeated(cause)) throw cause
    const own = await newest(context, peer)
    const found = own.find((message) => textIn(message.content) === textIn(content))
    if (found) return found
    throw unidentified(cause)
  }
}

/** Whether the network refused a request because it was carried out before. */
export const isRepeated = (cause: unknown): boolean => refusalOf(cause) === 'RANDOM_ID_DUPLICATE'

export const unidentified = (cause?: unknown) =>
  untold('sent the message and does not say which it is', cause)

/** The account's own latest messages in a chat, the newest first. They are looked at for one that was sent. */
export async function newest(context: Context, peer: tl.TypeInputPeer): Promise<Message[]> {
  const history = await context.calls
    .call(
      {
        _: 'messages.getHistory',
        peer,
        offsetId: 0,
        offsetDate: 0,
        addOffset: 0,
        limit: NEWEST,
        maxId: 0,
        minId: 0,
        hash: Long.ZERO,
      },
      readOptions(context),
    )
    .catch((cause) => {
      // This reading may well be made once more; the sending not.
      throw unidentified(cause)
    })
  if (history._ === 'messages.messagesNotModified') return []
  const view = { self: context.self, peers: PeersIndex.from(history) }
  return history.messages.flatMap((message) =>
    message._ === 'message' && message.out ? messageOf(message, view) : [],
  )
}

/** What the network takes away around a text; JavaScript counts more as white space. */
const TAKEN_AWAY = ' \t\r\n\v\f'

export function trimmed(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && TAKEN_AWAY.includes(text.charAt(from))) from += 1
  while (from < to && TAKEN_AWAY.includes(text.charAt(to - 1))) to -= 1
  return text.slice(from, to)
}

function textIn(content: Content): string {
  if (content.kind === 'text') return trimmed(content.text)
  return content.kind === 'media' ? trimmed(content.caption.text) : content.kind
}
