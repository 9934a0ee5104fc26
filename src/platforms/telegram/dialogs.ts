/** The chats of an account page by page, those with the newest messages first. */
import { Long, type tl } from '@mtcute/node'
import type { CallOptions, Calls } from './calls.ts'
import { nativeOf } from './natives.ts'

export type DialogPage = tl.messages.RawDialogs | tl.messages.RawDialogsSlice

const PAGE = 100
const PAGES = 10

export async function* dialogPages(
  calls: Calls,
  options: CallOptions,
  pages = PAGES,
): AsyncGenerator<DialogPage> {
  let from: Pick<tl.messages.RawGetDialogsRequest, 'offsetDate' | 'offsetId' | 'offsetPeer'> = {
    offsetDate: 0,
    offsetId: 0,
    offsetPeer: { _: 'inputPeerEmpty' },
  }
  for (let page = 0; page < pages; page++) {
    const found = await calls.call(
      { _: 'messages.getDialogs', ...from, limit: PAGE, hash: Long.ZERO },
      options,
    )
    if (found._ === 'messages.dialogsNotModified') return
    yield found
    const dialog = found.dialogs.findLast((one) => one._ === 'dialog')
    const message = dialog && topMessageOf(found, dialog)
    if (found._ === 'messages.dialogs' || found.dialogs.length < PAGE || !message) return
    const offsetPeer = await calls.peer(nativeOf(dialog.peer), options.signal)
    from = { offsetId: message.id, offsetDate: message.date, offsetPeer }
  }
}

/** Each channel numbers its own messages, so the chat has to match too. */
export function topMessageOf({ messages }: DialogPage, { peer, topMessage }: tl.RawDialog) {
  const native = nativeOf(peer)
  return messages.find(
    (one): one is tl.RawMessage | tl.RawMessageService =>
      one._ !== 'messageEmpty' && one.id === topMessage && nativeOf(one.peerId) === native,
  )
}
