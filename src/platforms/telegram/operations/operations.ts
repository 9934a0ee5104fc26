/** Carries out one operation on the network. */
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { capabilities } from '../capabilities.ts'
import { act } from './act.ts'
import { sendAlbum } from './album.ts'
import { edit, editCaption, remove } from './change.ts'
import { countMembers, leave, setDescription, setPermissions, setTitle } from './chats.ts'
import type { Context } from './context.ts'
import { editLocation, stopPoll } from './edit-more.ts'
import { answerJoin, editInvite, invite, revokeInvite } from './invites.ts'
import { describe, profilePhotos, resolve } from './lookup.ts'
import { administrators, ban, member, promote, restrict, unban } from './members.ts'
import { passOn } from './pass-on.ts'
import { setPhoto, setProfilePhoto } from './photos.ts'
import { pin, unpin, unpinAll } from './pins.ts'
import { setAbout, setName } from './profile.ts'
import { react, removeReaction } from './react.ts'
import { send } from './send.ts'
import { deleteStory, postStory } from './stories.ts'
import { closeTopic, createTopic, deleteTopic, editTopic } from './topics.ts'

export function carryOut(context: Context, operation: Operation): Promise<OperationResult> {
  const { kind } = operation
  if (!capabilities.operations.includes(kind)) throw unsupported(kind)
  switch (operation.kind) {
    case 'send':
      return send(context, operation)
    case 'send_album':
      return sendAlbum(context, operation)
    case 'edit':
      return edit(context, operation)
    case 'edit_caption':
      return editCaption(context, operation)
    case 'edit_location':
      return editLocation(context, operation)
    case 'stop_poll':
      return stopPoll(context, operation)
    case 'delete':
      return remove(context, operation)
    case 'forward':
    case 'copy':
      return passOn(context, operation)
    case 'react':
      return react(context, operation)
    case 'remove_reaction':
      return removeReaction(context, operation)
    case 'act':
      return act(context, operation)
    case 'pin':
      return pin(context, operation)
    case 'unpin':
      return unpin(context, operation)
    case 'unpin_all':
      return unpinAll(context, operation)
    case 'set_title':
      return setTitle(context, operation)
    case 'set_description':
      return setDescription(context, operation)
    case 'set_permissions':
      return setPermissions(context, operation)
    case 'leave':
      return leave(context, operation)
    case 'count_members':
      return countMembers(context, operation)
    case 'administrators':
      return administrators(context, operation)
    case 'member':
      return member(context, operation)
    case 'ban':
      return ban(context, operation)
    case 'unban':
      return unban(context, operation)
    case 'restrict':
      return restrict(context, operation)
    case 'promote':
      return promote(context, operation)
    case 'set_photo':
      return setPhoto(context, operation)
    case 'invite':
      return invite(context, operation)
    case 'edit_invite':
      return editInvite(context, operation)
    case 'revoke_invite':
      return revokeInvite(context, operation)
    case 'answer_join':
      return answerJoin(context, operation)
    case 'create_topic':
      return createTopic(context, operation)
    case 'edit_topic':
      return editTopic(context, operation)
    case 'close_topic':
    case 'reopen_topic':
      return closeTopic(context, operation)
    case 'delete_topic':
      return deleteTopic(context, operation)
    case 'set_name':
      return setName(context, operation)
    case 'set_about':
      return setAbout(context, operation)
    case 'set_profile_photo':
      return setProfilePhoto(context, operation)
    case 'post_story':
      return postStory(context, operation)
    case 'delete_story':
      return deleteStory(context, operation)
    case 'resolve':
      return resolve(context, operation.name)
    case 'describe':
      return describe(context, operation.chat)
    case 'profile_photos':
      return profilePhotos(context, operation)
    default:
      throw unsupported(kind)
  }
}

const unsupported = (kind: string) =>
  failed('bad_request', `${kind} is not supported on Telegram accounts`)
