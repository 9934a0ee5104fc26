/** Carries out one operation for a linked person. */
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import type { Database } from '../../database/database.ts'
import type { Log } from '../../database/log.ts'
import { detailsOf } from '../../sandbox/chats/details.ts'
import { resolve } from '../../sandbox/chats/find.ts'
import { manageInvite } from '../../sandbox/chats/invites.ts'
import { answerJoin } from '../../sandbox/chats/joining.ts'
import { chatNative } from '../../sandbox/delivery/natives.ts'
import type { Files } from '../../sandbox/files/files.ts'
import { stickerSet } from '../../sandbox/files/sticker-sets.ts'
import { answerCallback } from '../../sandbox/messages/callback.ts'
import { showDraft } from '../../sandbox/messages/drafts.ts'
import type { Outbox } from '../../sandbox/messages/outbox.ts'
import { removeReaction } from '../../sandbox/messages/reactions.ts'
import { showTyping } from '../../sandbox/messages/typing.ts'
import { changeProfile, profilePhotos } from '../../sandbox/people/profile.ts'
import { growthOf, type Room } from '../../sandbox/people/room.ts'
import type { Closing } from '../../sandbox/polls/closing.ts'
import { deleteStory, postStory } from '../../sandbox/stories/stories.ts'
import { changeTopic } from '../../sandbox/topics/topics.ts'
import { changeChat } from './chat-operations.ts'
import { administrators, count, member, moderate } from './member-operations.ts'
import { changeMessages } from './message-operations.ts'

export interface World {
  /** The user whose network this is: nothing in it sees or reaches anything outside. */
  readonly network: number
  readonly room: Room
  readonly db: Database
  readonly outbox: Outbox
  readonly media: Files['media']
  readonly closing: Closing
  readonly log: Log
  readonly now: () => number
  readonly wake: (people: readonly number[]) => void
}

export interface Doer {
  readonly person: number
  readonly session?: number
}

const done: OperationResult = { kind: 'done' }

export function carryOut(
  world: World,
  doer: Doer,
  operation: Operation,
  request: string,
): Promise<OperationResult> {
  const growth = growthOf(operation)
  if (growth === 0) return execute(world, doer, operation, request)
  return world.room.holding(world.network, growth, () => execute(world, doer, operation, request))
}

async function execute(
  world: World,
  doer: Doer,
  operation: Operation,
  request: string,
): Promise<OperationResult> {
  const { db, wake } = world
  const { person } = doer
  switch (operation.kind) {
    case 'send':
    case 'send_album':
    case 'forward':
    case 'copy':
    case 'edit':
    case 'edit_caption':
    case 'edit_buttons':
    case 'edit_location':
    case 'stop_poll':
    case 'delete':
    case 'react':
      return changeMessages(world, doer, operation, request)
    case 'act':
      await showTyping(db, person, operation)
      wake([])
      return done
    case 'draft':
      await showDraft(world, person, operation)
      wake([])
      return done
    case 'sticker_set':
      return stickerSet(world, operation.name)
    case 'create_topic':
    case 'edit_topic':
    case 'close_topic':
    case 'reopen_topic':
    case 'delete_topic':
      return changeTopic(world, doer, operation)
    case 'answer':
      await answerCallback(db, person, operation.callback, answerOf(operation))
      wake([])
      return done
    case 'resolve':
      return { kind: 'chat', chat: await resolve(world, operation.name) }
    case 'describe':
      return { kind: 'chat', chat: await detailsOf(db, person, chatNative(operation.chat)) }
    case 'administrators':
      return administrators(world, doer, operation)
    case 'count_members':
      return count(world, doer, operation)
    case 'member':
      return member(world, doer, operation)
    case 'ban':
    case 'unban':
    case 'restrict':
    case 'promote':
      return moderate(world, doer, operation)
    case 'set_title':
    case 'set_description':
    case 'set_photo':
    case 'set_permissions':
    case 'pin':
    case 'unpin':
    case 'unpin_all':
    case 'leave':
      return changeChat(world, doer, operation)
    case 'invite':
    case 'edit_invite':
    case 'revoke_invite':
      return manageInvite(world, doer, operation)
    case 'answer_join':
      return answerJoin(world, doer, operation)
    case 'set_name':
    case 'set_about':
    case 'set_profile_photo':
      return changeProfile(world, doer, operation)
    case 'remove_reaction':
      await removeReaction(world, doer, operation)
      return done
    case 'post_story':
      return postStory(world, doer, operation, request)
    case 'delete_story':
      await deleteStory(world, doer, operation.story)
      return done
    case 'profile_photos':
      return profilePhotos(world, operation)
  }
}

function answerOf({ text, alert, url }: Extract<Operation, { kind: 'answer' }>) {
  return {
    ...(text !== undefined && { text }),
    ...(alert !== undefined && { alert }),
    ...(url !== undefined && { url }),
  }
}
