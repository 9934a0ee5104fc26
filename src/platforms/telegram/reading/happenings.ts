/** Reads updates of the network into neutral happenings. */
import { createHash } from 'node:crypto'
import type { tl } from '@mtcute/node'
import type { Chat } from '../../../../machines/model/content.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import type { Person } from '../../../../machines/model/person.ts'
import type { ExistingMessage } from '../find-message.ts'
import { nativeOf } from '../natives.ts'
import type { MessageLocation } from '../storage/locations.ts'
import { membershipOf, membershipsIn } from './memberships.ts'
import { isOwn, messageOf } from './message.ts'
import type { OpinionReader } from './opinions.ts'
import { chatOf, personById, type View } from './peers.ts'
import type { KnownPolls } from './polls.ts'

/** The reading account, and its memory of earlier updates. */
export interface HappeningContext extends View {
  readonly opinions: OpinionReader
  readonly polls: KnownPolls
}

type UpdateOf<Kind> = Extract<tl.TypeUpdate, { readonly _: Kind }>
type NewMessage = UpdateOf<'updateNewMessage' | 'updateNewChannelMessage'>
type EditedMessage = UpdateOf<'updateEditMessage' | 'updateEditChannelMessage'>

/** The updates that may be events of the bot API, by their kinds. */
const readers: {
  readonly [Kind in tl.TypeUpdate['_']]?: (
    update: UpdateOf<Kind>,
    view: HappeningContext,
  ) => Happening[]
} = {
  updateNewMessage: readNew,
  updateNewChannelMessage: readNew,
  updateEditMessage: readEdited,
  updateEditChannelMessage: readEdited,
  // Read by `deletionsOf` with the chats of the messages.
  updateDeleteMessages: () => [],
  updateDeleteChannelMessages({ channelId, messages }, view) {
    const chat = chatOf({ _: 'peerChannel', channelId }, view)
    return [
      {
        kind: 'deleted',
        sourceKey: deletionKey(`d:${chat.native}:${messages.join(',')}`),
        direction: 'incoming',
        at: seconds(),
        chat: chat.native,
        surface: chat.surface,
        messages: messages.map(String),
      },
    ]
  },
  updateReadHistoryOutbox: ({ peer, maxId }, view) => [
    read(chatOf(peer, view), maxId, readerOf(peer, view)),
  ],
  updateReadChannelOutbox: ({ channelId, maxId }, view) => [
    read(chatOf({ _: 'peerChannel', channelId }, view), maxId),
  ],
  updateReadMonoForumOutbox: (update, view) => [readInTopic(update, view)],
  updateMessageReactions: (update, view) => view.opinions.read(update, view),
  updateMessagePoll: (update, { polls }) => listed(polls.read(update)),
  updateChannelParticipant: (update, view) => [membershipOf(update, view)],
  updateChatParticipant: (update, view) => [membershipOf(update, view)],
}

/** Whether updates of this kind may be events of the bot API. Most are none, as who is online or types. */
export const mayHappen = ({ _: kind }: tl.TypeUpdate): boolean => kind in readers

/** Empty for updates without an event of the bot API. Deletions without a chat are read by `deletionsOf`. */
export function happeningsOf<Update extends tl.TypeUpdate>(
  update: Update,
  view: HappeningContext,
): Happening[] {
  const kind: Update['_'] = update._
  const reader = readers[kind] as
    | ((update: Update, view: HappeningContext) => Happening[])
    | undefined
  return reader?.(update, view) ?? []
}

function readNew({ message, pts }: NewMessage, view: HappeningContext): Happening[] {
  if (message._ === 'messageEmpty') return []
  view.polls.note(message)
  return written(message, view, pts)
}

function readEdited({ message, pts }: EditedMessage, view: HappeningContext): Happening[] {
  view.polls.note(message)
  return message._ === 'message' ? changed(message, view, pts) : []
}

/** In groups the network does not say who has read a message. */
const readerOf = (peer: tl.TypePeer, view: View): Person | undefined =>
  peer._ === 'peerUser' ? personById(peer.userId, view) : undefined

/** A receipt for one conversation of a channel's direct messages; other conversations may be read up to the same message. */
function readInTopic(
  { channelId, savedPeerId, readMaxId }: tl.RawUpdateReadMonoForumOutbox,
  view: View,
): Happening {
  const chat = chatOf({ _: 'peerChannel', channelId }, view)
  const sourceKey = `r:${chat.native}:${nativeOf(savedPeerId)}:${readMaxId}`
  return { ...read(chat, readMaxId, readerOf(savedPeerId, view)), sourceKey }
}

function read(chat: Chat, maxId: number, person?: Person): Happening {
  return {
    kind: 'receipt',
    state: 'read',
    sourceKey: `r:${chat.native}:${maxId}`,
    direction: 'incoming',
    at: seconds(),
    chat,
    target: `${maxId}`,
    ...(person && { person }),
  }
}

/** Longer keys could not be stored: one deletion may name thousands of messages. */
const LONGEST_KEY = 200

const deletionKey = (named: string): string =>
  named.length <= LONGEST_KEY
    ? named
    : `d:${createHash('sha256').update(named).digest('base64url')}`

/** One event for each chat, and one without a chat for messages whose chat is not stored. */
export function deletionsOf(
  messages: readonly number[],
  locations: readonly MessageLocation[],
): Happening[] {
  const chatOfMessage = new Map(locations.map(({ message, chat }) => [message, chat]))
  const grouped = Map.groupBy(messages, (message) => chatOfMessage.get(message))
  return [...grouped].map(([chat, gone]) => ({
    kind: 'deleted',
    sourceKey: deletionKey(`d:${gone.join(',')}`),
    direction: 'incoming',
    at: seconds(),
    ...(chat !== undefined && {
      chat: `${chat}`,
      surface: chat > 0 ? ('private' as const) : ('group' as const),
    }),
    messages: gone.map(String),
  }))
}

function written(message: ExistingMessage, view: View, pts: number): Happening[] {
  const told = messageOf(message, view)
  // The library numbers pushed updates, but not those that it fetched.
  const recovered = pts === 0 && { recovered: true }
  const happening: Happening = {
    kind: 'message',
    sourceKey: `m:${told.chat.native}:${told.native}`,
    direction: isOwn(message, view.self) ? 'own' : 'incoming',
    at: told.at,
    message: told,
    ...recovered,
  }
  if (message._ === 'message') return [happening]
  const members = membershipsIn(message, told, view)
  return [happening, ...members.map((member) => ({ ...member, ...recovered }))]
}

const changed = (message: tl.RawMessage, view: HappeningContext, pts: number): Happening[] => [
  ...listed(edited(message, view)),
  ...view.opinions.readIn(message, view, pts),
]

/** Changes of reactions, views and previews come as edits of the network, but are none. */
function edited(message: tl.RawMessage, view: HappeningContext): Happening | undefined {
  const told = messageOf(message, view)
  const content = told.editedAt === undefined ? undefined : view.opinions.newContent(message)
  if (told.editedAt === undefined || content === undefined) return undefined
  return {
    kind: 'edited',
    // Not its number: a reaction has another one, and comes as the same edit where the content before is forgotten.
    sourceKey: `e:${told.chat.native}:${told.native}:${told.editedAt}:${content}`,
    direction: isOwn(message, view.self) ? 'own' : 'incoming',
    at: told.editedAt,
    message: told,
  }
}

const listed = (happening: Happening | undefined) => (happening ? [happening] : [])
const seconds = () => Math.floor(Date.now() / 1000)
