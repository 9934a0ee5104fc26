/** The operations of XMPP accounts: about messages, about chats, and about rooms and their members. */
import { xml } from '@xmpp/client'
import { type Handlers, handle, type Request } from '../../../actors/ports/platform.ts'
import type { Content, Message } from '../../../machines/model/content.ts'
import {
  failed,
  messageNotAllowed,
  messageNotFound,
  notFound,
  RequestFailed,
} from '../../../machines/model/failure.ts'
import type { Operation, OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { type Carried, type Written, written } from './content.ts'
import { doneInPart, unanswered } from './failures.ts'
import type { History } from './history.ts'
import type { HttpUploads } from './media/uploads.ts'
import { ns } from './namespaces.ts'
import type { Place, Places, Recalled } from './places.ts'
import type { Moderating } from './rooms/moderation.ts'
import type { Room } from './rooms/room.ts'
import type { Stream } from './stream.ts'
import { chatState, correction, displayed, opinion, retraction, textMessage } from './writing.ts'

export interface Context extends Request {
  readonly stream: Stream
  readonly places: Places
  readonly uploads: HttpUploads
  readonly history: History
}

const done: OperationResult = { kind: 'done' }

const messages: Handlers<Context> = {
  async send(context, operation) {
    const { places, requestId, signal } = context
    const place = await places.at(operation.chat, signal)
    const item = await prepared(context, place, requestId, operation)
    const { replyTo, quote } = operation
    const more = replyTo !== undefined && { replyTo, ...(quote && { quote }) }
    const { content, ...posted } = await post(place, requestId, item, more, signal)
    const reply = replyTo !== undefined && { replyTo: { native: replyTo } }
    return messageAt(place, content, { ...posted, ...reply })
  },

  /**
   * The network has no albums: each file is a message, and only other accounts here see that they belong together.
   * Uploads everything before anything is sent.
   */
  async send_album(context, { chat, contents, replyTo }) {
    const { places, requestId: album, signal } = context
    const place = await places.at(chat, signal)
    // The same names as in the log, in case the archive shows the sent messages again.
    const nameOf = (index: number) => (index === 0 ? album : `${album}:${index}`)
    const items: (Written | Recalled)[] = []
    for (const [index, content] of contents.entries()) {
      items.push(await prepared(context, place, nameOf(index), { content }))
    }
    const messages: Message[] = []
    for (const [index, item] of items.entries()) {
      const isReply = replyTo !== undefined && index === 0
      const extras = [xml('album', { xmlns: ns.album, id: album })]
      const inAlbum = isRecalled(item) ? item : { ...item, extras }
      const bonds = isReply && { replyTo }
      const posted = await post(place, nameOf(index), inAlbum, bonds, signal).catch((cause) => {
        // The same request again sends the rest.
        throw index === 0 ? cause : doneInPart(cause)
      })
      const { chat, self: from } = place
      const reply = isReply && { replyTo: { native: replyTo } }
      messages.push({ chat, from, album, ...posted, ...reply })
    }
    return { kind: 'messages', messages }
  },

  edit,

  async edit_caption(context, operation) {
    const { kind: _, caption, captionAbove: _above, ...target } = operation
    const place = await context.places.at(operation.chat, context.signal)
    const original = await place.original(operation.message, context.signal)
    if (!original) throw messageNotFound('message to edit')
    if (original.content.kind !== 'media') {
      throw failed('bad_request', 'there is no caption in the message to edit')
    }
    return edit(context, { kind: 'edit', ...target, content: { ...original.content, caption } })
  },

  async delete({ places, requestId, signal }, { chat, message }) {
    const place = await places.at(chat, signal)
    const found = await place.find(message, signal)
    if (found === 'absent') throw messageNotFound('message to delete')
    if (found === 'foreign') throw messageNotAllowed("message can't be deleted")
    const target = place.reference(message)
    await place.post(retraction(place.envelope(requestId), target), signal)
    return done
  },

  async react({ places, requestId, signal }, { chat, message, reactions }) {
    const emojis = reactions.map((reaction) => {
      if ('emoji' in reaction) return reaction.emoji
      throw failed('bad_request', 'REACTION_INVALID')
    })
    const place = await places.at(chat, signal)
    if ((await place.find(message, signal)) === 'absent') throw messageNotFound('message to react')
    const target = place.reference(message)
    await place.post(opinion(place.envelope(requestId), target, emojis), signal)
    return done
  },

  forward: passOn,

  copy: passOn,

  /** XMPP has one activity only: every action but its end is shown as typing. */
  async act({ places, stream, signal }, { chat, action }) {
    const place = await places.at(chat, signal)
    const state = action === 'cancel' ? 'active' : 'composing'
    await stream.sendWhenUp(chatState(place.envelope(''), state), signal)
    return done
  },
}

const chats: Handlers<Context> = {
  resolve: async ({ places, signal }, { name }) => ({
    kind: 'chat',
    chat: await places.resolve(name, signal),
  }),

  describe: async ({ places, signal }, { chat }) => ({
    kind: 'chat',
    chat: await places.describe(chat, signal),
  }),

  async leave({ places, signal }, { chat }) {
    await places.leave(chat, signal)
    return done
  },
}

const readings: Handlers<Context> = {
  list_chats: ({ history, signal }, operation) => history.chats(operation, signal),

  async read_history({ history, places, signal }, operation) {
    const place = await places.at(operation.chat, signal)
    return { kind: 'history', messages: await history.read(place, operation, signal) }
  },

  /** A marker names a message of another person: the newest one up to the given message. */
  async mark_read({ history, places, stream, requestId, signal }, { chat, message }) {
    const place = await places.at(chat, signal)
    const newest = await history.newestOfOthers(place, message, signal)
    if (!newest) return done
    await stream.sendWhenUp(displayed(place.envelope(requestId), newest.native), signal)
    return done
  },
}

const rooms: Handlers<Context> = {
  count_members: async (context, { chat }) => ({
    kind: 'number',
    number: (await roomAt(context, chat)).memberCount,
  }),

  async administrators(context, { chat }) {
    const { members } = await roomAt(context, chat)
    const all = await members.administrators(context.signal)
    return { kind: 'members', members: all, surface: 'supergroup' }
  },

  async member(context, { chat, person }) {
    const { members } = await roomAt(context, chat)
    const member = await members.member(person, context.signal)
    return { kind: 'member', member, surface: 'supergroup' }
  },

  async set_title(context, { chat, title }) {
    await (await roomAt(context, chat)).set('title', title, context.signal)
    return done
  },

  async set_description(context, { chat, description }) {
    await (await roomAt(context, chat)).set('description', description, context.signal)
    return done
  },

  ban: moderate,
  unban: moderate,
  restrict: moderate,
  promote: moderate,
}

export const handlers: Handlers<Context> = { ...messages, ...chats, ...readings, ...rooms }

/** Rejects only with `RequestFailed`. */
export async function perform(context: Context, operation: Operation): Promise<OperationResult> {
  try {
    return await handle(handlers, 'XMPP', context, operation)
  } catch (cause) {
    throw cause instanceof RequestFailed ? cause : unanswered(cause)
  }
}

/** The message to post. If an earlier session may have posted it, that is found out before anything is uploaded. */
async function prepared(
  context: Context,
  place: Place,
  id: string,
  carried: Carried,
): Promise<Written | Recalled> {
  const earlier = context.isRepeated ? await place.recall(id, context.signal) : undefined
  return earlier ?? writtenIn(context, carried)
}

const isRecalled = (item: Written | Recalled): item is Recalled => 'native' in item

/** Nothing is sent for what an earlier session has posted. */
async function post(
  place: Place,
  id: string,
  item: Written | Recalled,
  bonds: Parameters<typeof textMessage>[2],
  signal: AbortSignal,
): Promise<Recalled> {
  if (isRecalled(item)) return item
  const { replyTo } = bonds || {}
  const more = replyTo === undefined ? bonds : { ...bonds, replyTo: place.reference(replyTo) }
  const posted = await place.post(textMessage(place.envelope(id), item, more), signal)
  return { content: item.shown, ...posted }
}

async function edit(context: Context, operation: OperationOf<'edit'>): Promise<OperationResult> {
  const { places, requestId, signal } = context
  const native = operation.message
  const place = await places.at(operation.chat, signal)
  const found = await place.find(native, signal)
  if (found === 'absent') throw messageNotFound('message to edit')
  if (found === 'foreign') throw messageNotAllowed("message can't be edited")
  const text = await writtenIn(context, operation)
  const posted = await place.post(correction(place.envelope(requestId), text, found.id), signal)
  const times = { at: found.at ?? posted.at, editedAt: posted.at }
  return messageAt(place, text.shown, { native, ...times })
}

async function passOn(
  context: Context,
  operation: OperationOf<'forward' | 'copy'>,
): Promise<OperationResult> {
  const { places, requestId, signal } = context
  const { kind, message, replyTo, caption, buttons } = operation
  const source = await places.at(operation.from, signal)
  const original = await source.original(message, signal)
  if (!original) throw messageNotFound(`message to ${kind}`)
  const { author, at } = original
  const isRecaptioned = original.content.kind === 'media' && caption !== undefined
  const content = isRecaptioned ? { ...original.content, caption } : original.content
  const place = await places.at(operation.chat, signal)
  const carried = { content, ...(buttons && { buttons }) }
  const item = await prepared(context, place, requestId, carried)
  const isForwarded = kind === 'forward' && !isRecalled(item)
  const more = {
    ...(replyTo !== undefined && { replyTo }),
    ...(isForwarded && { forwarded: { from: author.native, at, text: item } }),
  }
  const { content: shown, ...posted } = await post(place, requestId, item, more, signal)
  return messageAt(place, shown, {
    ...posted,
    ...(replyTo !== undefined && { replyTo: { native: replyTo } }),
    ...(kind === 'forward' && { forward: { from: 'person', person: author, at } }),
  })
}

async function moderate(context: Context, operation: Moderating): Promise<OperationResult> {
  const room = await roomAt(context, operation.chat)
  await room.moderation.execute(operation, context.signal)
  return done
}

async function roomAt({ places, signal }: Context, chat: string): Promise<Room> {
  const { room } = await places.at(chat, signal)
  if (!room) throw notFound('chat')
  return room
}

const writtenIn = ({ uploads, requestId, signal }: Context, carried: Carried) =>
  written(carried, uploads, requestId, signal)

function messageAt(
  { chat, self }: Place,
  content: Content,
  more: Pick<Message, 'native' | 'at'> & Partial<Message>,
): OperationResult {
  return { kind: 'message', message: { chat, from: self, content, ...more } }
}
