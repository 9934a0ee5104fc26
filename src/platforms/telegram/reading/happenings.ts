/** What the network says has happened, in neutral terms. */
import type { tl } from '@mtcute/node'
import type { Reaction } from '../../../../machines/content.ts'
import type { Happening } from '../../../../machines/happening.ts'
import type { Place } from '../storage/places.ts'
import { isOwn, messageOf, type Written } from './message.ts'
import { chatOf, type View } from './peers.ts'
import { pollOf } from './poll.ts'

/** Undefined where the bot API knows no such event. Deletions without a chat are not told here. */
export function happeningOf(update: tl.TypeUpdate, view: View): Happening | undefined {
  switch (update._) {
    case 'updateNewMessage':
    case 'updateNewChannelMessage':
      if (update.message._ === 'messageEmpty') return undefined
      return written(update.message, view, update.pts)
    case 'updateEditMessage':
    case 'updateEditChannelMessage':
      return update.message._ === 'message' ? edited(update.message, view, update.pts) : undefined
    case 'updateDeleteChannelMessages': {
      const chat = chatOf({ _: 'peerChannel', channelId: update.channelId }, view)
      return {
        kind: 'deleted',
        sourceKey: `d:${chat.native}:${update.messages.join(',')}`,
        direction: 'incoming',
        at: seconds(),
        chat: chat.native,
        surface: chat.surface,
        messages: update.messages.map(String),
      }
    }
    case 'updateMessageReactions': {
      const chat = chatOf(update.peer, view)
      const { msgId, reactions } = update
      const counts = reactions.results.flatMap(({ reaction, count }) => {
        const known = reactionOf(reaction)
        return known ? [{ reaction: known, count }] : []
      })
      return {
        kind: 'reaction_count',
        // Not numbered by the network, and never told again: each is an event of its own.
        sourceKey: `r:${chat.native}:${msgId}:${crypto.randomUUID()}`,
        direction: 'incoming',
        at: seconds(),
        chat,
        target: `${msgId}`,
        counts,
      }
    }
    case 'updateMessagePoll': {
      const { poll, results } = update
      if (!poll) return undefined
      return {
        kind: 'poll',
        sourceKey: `p:${poll.id}:${crypto.randomUUID()}`,
        direction: 'incoming',
        at: seconds(),
        poll: pollOf(poll, results),
      }
    }
    default:
      return undefined
  }
}

/** One event for each chat; those that nobody remembers are told without a chat. */
export function deletionsOf(messages: readonly number[], places: readonly Place[]): Happening[] {
  const chatOfMessage = new Map(places.map(({ message, chat }) => [message, chat]))
  const grouped = Map.groupBy(messages, (message) => chatOfMessage.get(message))
  return [...grouped].map(([chat, gone]) => ({
    kind: 'deleted',
    sourceKey: `d:${gone.join(',')}`,
    direction: 'incoming',
    at: seconds(),
    ...(chat !== undefined && {
      chat: `${chat}`,
      surface: chat > 0 ? ('private' as const) : ('group' as const),
    }),
    messages: gone.map(String),
  }))
}

function written(message: Written, view: View, pts: number): Happening {
  const told = messageOf(message, view)
  return {
    kind: 'message',
    sourceKey: `m:${told.chat.native}:${told.native}`,
    direction: isOwn(message, view.self) ? 'own' : 'incoming',
    at: told.at,
    message: told,
    // The library numbers what was pushed, and not what it had to ask for.
    ...(pts === 0 && { recovered: true }),
  }
}

/** What changes without its content having changed is no edit: reactions, views, previews. */
function edited(message: tl.RawMessage, view: View, pts: number): Happening | undefined {
  const told = messageOf(message, view)
  if (told.editedAt === undefined) return undefined
  return {
    kind: 'edited',
    sourceKey: `e:${told.chat.native}:${told.native}:${told.editedAt}:${pts}`,
    direction: isOwn(message, view.self) ? 'own' : 'incoming',
    at: told.editedAt,
    message: told,
  }
}

function reactionOf(reaction: tl.TypeReaction): Reaction | undefined {
  switch (reaction._) {
    case 'reactionEmoji':
      return { emoji: reaction.emoticon }
    case 'reactionCustomEmoji':
      return { customEmojiId: reaction.documentId.toString() }
    default:
      return undefined
  }
}

const seconds = () => Math.floor(Date.now() / 1000)
