/** What the account thinks of a message. */
import { Long, type tl } from '@mtcute/node'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { messageId } from '../natives.ts'
import { missing } from './change.ts'
import { type Context, done } from './context.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function react(
  { calls, signal }: Context,
  { chat, message, reactions, isBig }: Of<'react'>,
): Promise<OperationResult> {
  const msgId = messageId(message, 'message to react')
  const peer = await calls.peer(chat, signal)
  const reaction = reactions.map(
    (one): tl.TypeReaction =>
      'emoji' in one
        ? { _: 'reactionEmoji', emoticon: one.emoji }
        : { _: 'reactionCustomEmoji', documentId: Long.fromString(one.customEmojiId) },
  )
  const request = { _: 'messages.sendReaction', peer, msgId, ...(isBig && { big: true }) } as const
  const result = await calls
    .call({ ...request, reaction }, { signal })
    .catch(missing('message to react not found'))
  calls.take(result)
  return done
}

/** What somebody else thinks of a message is taken back for them. */
export async function removeReaction(
  { calls, signal }: Context,
  { chat, message, person }: Of<'remove_reaction'>,
): Promise<OperationResult> {
  const msgId = messageId(message, 'message to react')
  const peer = await calls.peer(chat, signal)
  const participant = await calls.person(person, signal)
  const request = { _: 'messages.deleteParticipantReaction', peer, msgId, participant } as const
  const result = await calls.call(request, { signal }).catch(missing('message to react not found'))
  calls.take(result)
  return done
}
