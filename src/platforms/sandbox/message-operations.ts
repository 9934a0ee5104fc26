/** Sending messages, passing them on, changing them, and what is thought of them. */
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import { chatNative, messageNative, topicNative } from '../../sandbox/delivery/natives.ts'
import { messageOf } from '../../sandbox/delivery/neutral.ts'
import { holderOf, holdingWhile } from '../../sandbox/files/holding.ts'
import { sendAlbum } from '../../sandbox/messages/album.ts'
import { edit } from '../../sandbox/messages/edits.ts'
import { checkedKeyboard } from '../../sandbox/messages/keyboard.ts'
import type { Draft } from '../../sandbox/messages/outbox.ts'
import { passOn } from '../../sandbox/messages/pass-on.ts'
import { preparedContent } from '../../sandbox/messages/preparing.ts'
import { react } from '../../sandbox/messages/reactions.ts'
import { type Place, remove } from '../../sandbox/messages/revise.ts'
import { send, sentBefore } from '../../sandbox/messages/send.ts'
import { stopPoll } from '../../sandbox/polls/stop-poll.ts'
import type { Doer, World } from './operations.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export type MessageChange = Of<
  | 'send'
  | 'send_album'
  | 'forward'
  | 'copy'
  | 'edit'
  | 'edit_caption'
  | 'edit_buttons'
  | 'edit_location'
  | 'stop_poll'
  | 'delete'
  | 'react'
>

export async function changeMessages(
  world: World,
  doer: Doer,
  operation: MessageChange,
  request: string,
): Promise<OperationResult> {
  switch (operation.kind) {
    case 'send':
      return sendOne(world, draftOf(doer, operation, request), operation)
    case 'send_album': {
      const draft = draftOf(doer, operation, request)
      return { kind: 'messages', messages: await sendAlbum(world, draft, operation.contents) }
    }
    case 'forward':
    case 'copy': {
      const { kind: as, caption } = operation
      const from = placeOf(operation.from, operation.message, as)
      const passing = { as, from, ...(caption && { caption }) }
      const draft = draftOf(doer, operation, request)
      return { kind: 'message', message: await passOn(world, passing, draft) }
    }
    case 'stop_poll': {
      const place = placeOf(operation.chat, operation.message, 'edit')
      return { kind: 'poll', poll: await stopPoll(world, doer, place, operation.buttons) }
    }
    case 'delete':
      return {
        kind: 'done',
        surface: await remove(world, doer, placeOf(operation.chat, operation.message, 'delete')),
      }
    case 'react': {
      const place = placeOf(operation.chat, operation.message, 'react')
      await react(world, doer, place, operation.reactions)
      return { kind: 'done' }
    }
    default: {
      const place = placeOf(operation.chat, operation.message, 'edit')
      return { kind: 'message', message: await edit(world, doer, place, operation) }
    }
  }
}

/** What only has words needs no preparation: one statement sends it. */
async function sendOne(
  world: World,
  draft: Omit<Draft, 'content'>,
  { content: given }: Of<'send'>,
): Promise<OperationResult> {
  const { db, outbox } = world
  const { sender, request } = draft
  const before = given.kind === 'text' ? undefined : await sentBefore(db, draft)
  if (before) return { kind: 'message', message: messageOf(before) }
  const deliver = async () => {
    const content = await preparedContent(world, sender, request, given)
    return send(db, outbox, { ...draft, content })
  }
  const hasFiles = given.kind === 'media'
  const message = hasFiles
    ? await holdingWhile(world, [holderOf(sender, request)], deliver)
    : await deliver()
  return { kind: 'message', message }
}

type Sending = Of<'send' | 'send_album' | 'forward' | 'copy'>

function draftOf(
  { person, session }: Doer,
  operation: Sending,
  request: string,
): Omit<Draft, 'content'> {
  const { chat, replyTo, replyOptional, isProtected, topic } = operation
  const buttons = 'buttons' in operation ? operation.buttons : undefined
  const native = chatNative(chat)
  const keyboard =
    'keyboard' in operation && operation.keyboard && checkedKeyboard(operation.keyboard, native)
  return {
    sender: person,
    ...(session !== undefined && { session }),
    native,
    request,
    ...(replyTo !== undefined && { reply: messageNative(replyTo, 'be replied') }),
    ...(replyOptional && { replyOptional }),
    ...(isProtected && { isProtected }),
    ...(topic !== undefined && { topic: topicNative(topic) }),
    ...(buttons && { buttons }),
    ...(keyboard && { keyboard }),
  }
}

const placeOf = (chat: string, message: string, purpose: string): Place => ({
  chat: chatNative(chat),
  message: messageNative(message, purpose),
})
