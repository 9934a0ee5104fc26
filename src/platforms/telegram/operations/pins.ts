/** Which messages a chat holds up for all to see. */
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { messageId } from '../natives.ts'
import { missing } from './change.ts'
import { type Context, done } from './context.ts'
import { describe } from './lookup.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function pin(
  { calls, signal }: Context,
  { chat, message, silent }: Of<'pin'>,
): Promise<OperationResult> {
  const id = messageId(message, 'message to pin')
  const peer = await calls.peer(chat, signal)
  const request = { _: 'messages.updatePinnedMessage', peer, id } as const
  const result = await calls
    .call({ ...request, ...(silent && { silent }) }, { signal })
    .catch(missing('message to pin not found'))
  calls.take(result)
  return done
}

export async function unpin(
  context: Context,
  { chat, message }: Of<'unpin'>,
): Promise<OperationResult> {
  const { calls, signal } = context
  const id = messageId(message ?? (await newestPin(context, chat)), 'message to unpin')
  const peer = await calls.peer(chat, signal)
  const request = { _: 'messages.updatePinnedMessage', peer, id, unpin: true } as const
  const result = await calls.call(request, { signal }).catch(missing('message to unpin not found'))
  calls.take(result)
  return done
}

async function newestPin(context: Context, chat: string): Promise<string> {
  const described = await describe(context, chat)
  const pinned = described.kind === 'chat' ? described.chat.pinned : undefined
  if (!pinned) throw failed('bad_request', 'message to unpin not found')
  return pinned.native
}

export async function unpinAll(
  { calls, signal }: Context,
  { chat }: { readonly chat: string },
): Promise<OperationResult> {
  const peer = await calls.peer(chat, signal)
  const request = { _: 'messages.unpinAllMessages', peer } as const
  const { pts, ptsCount } = await calls.call(request, { signal })
  calls.count(pts, ptsCount, peer._ === 'inputPeerChannel' ? peer.channelId : 0)
  return done
}
