/** Asks the network for a message by its number. */
import { PeersIndex, type tl } from '@mtcute/node'
import { messageNotFound } from '../../../machines/model/failure.ts'
import type { Calls } from './calls.ts'
import { isChannel, nativeOf } from './natives.ts'

/** A message that exists: its text and media, or what happened in its chat. */
export type ExistingMessage = tl.RawMessage | tl.RawMessageService

/** Rejects if the message does not exist or was deleted. */
export async function findMessage(
  calls: Calls,
  chat: string,
  id: number,
  signal: AbortSignal,
): Promise<ExistingMessage> {
  return (await findMessageWithPeers(calls, chat, id, signal)).message
}

export async function findMessageWithPeers(
  calls: Calls,
  chat: string,
  id: number,
  signal: AbortSignal,
): Promise<{ readonly message: ExistingMessage; readonly peers: PeersIndex }> {
  const wanted: tl.TypeInputMessage[] = [{ _: 'inputMessageID', id }]
  const options = { signal, readsOnly: true }
  const found = isChannel(chat)
    ? await calls.call(
        { _: 'channels.getMessages', channel: await calls.channel(chat, signal), id: wanted },
        options,
      )
    : await calls.call({ _: 'messages.getMessages', id: wanted }, options)
  const [message] = found._ === 'messages.messagesNotModified' ? [] : found.messages
  if (!message || message._ === 'messageEmpty' || found._ === 'messages.messagesNotModified') {
    throw messageNotFound('message')
  }
  // Private chats and small groups share one numbering.
  if (nativeOf(message.peerId) !== chat) throw messageNotFound('message')
  return { message, peers: PeersIndex.from(found) }
}
