/** Settings of chats: title, description, photo, permissions and pinned messages; and leaving a chat. */
import type { tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import { messageNotFound } from '../../../../machines/model/failure.ts'
import type { Media } from '../../../../machines/model/media.ts'
import { upload } from '../files.ts'
import { messageId } from '../natives.ts'
import { bannedRights } from '../reading/memberships.ts'
import { type Context, done } from './context.ts'
import { described } from './describe.ts'
import { missing } from './messages.ts'
import { storedPhoto } from './profile.ts'

export const chats: Handlers<Context> = {
  async set_title({ calls, signal }, { chat, title }) {
    const peer = await calls.peer(chat, signal)
    const result =
      peer._ === 'inputPeerChat'
        ? await calls.call({ _: 'messages.editChatTitle', chatId: peer.chatId, title }, { signal })
        : await calls.call(
            { _: 'channels.editTitle', channel: await calls.channel(chat, signal), title },
            { signal },
          )
    calls.take(result)
    return done
  },

  async set_description({ calls, signal }, { chat, description: about }) {
    const peer = await calls.peer(chat, signal)
    await calls.call({ _: 'messages.editChatAbout', peer, about }, { signal })
    return done
  },

  async set_photo(context, { chat, photo: given }) {
    const { calls, signal } = context
    const peer = await calls.peer(chat, signal)
    const photo = await chatPhoto(context, given)
    if (peer._ === 'inputPeerChat') {
      const request = { _: 'messages.editChatPhoto', chatId: peer.chatId, photo } as const
      calls.take(await calls.call(request, { signal }))
    } else {
      const channel = await calls.channel(chat, signal)
      calls.take(await calls.call({ _: 'channels.editPhoto', channel, photo }, { signal }))
    }
    return done
  },

  async set_permissions({ calls, signal }, { chat, permissions }) {
    const peer = await calls.peer(chat, signal)
    const request = { _: 'messages.editChatDefaultBannedRights', peer } as const
    const bannedRight = { bannedRights: bannedRights(permissions) }
    calls.take(await calls.call({ ...request, ...bannedRight }, { signal }))
    return done
  },

  async pin({ calls, signal }, { chat, message, silent }) {
    const id = messageId(message, 'message to pin')
    const peer = await calls.peer(chat, signal)
    const request = { _: 'messages.updatePinnedMessage', peer, id } as const
    const result = await calls
      .call({ ...request, ...(silent && { silent }) }, { signal })
      .catch(missing('message to pin'))
    calls.take(result)
    return done
  },

  async unpin(context, { chat, message }) {
    const { calls, signal } = context
    const id = messageId(message ?? (await newestPin(context, chat)), 'message to unpin')
    const peer = await calls.peer(chat, signal)
    const request = { _: 'messages.updatePinnedMessage', peer, id, unpin: true } as const
    const result = await calls.call(request, { signal }).catch(missing('message to unpin'))
    calls.take(result)
    return done
  },

  async unpin_all({ calls, signal }, { chat }) {
    const peer = await calls.peer(chat, signal)
    const request = { _: 'messages.unpinAllMessages', peer } as const
    const { pts, ptsCount } = await calls.call(request, { signal })
    calls.count(pts, ptsCount, peer._ === 'inputPeerChannel' ? peer.channelId : 0)
    return done
  },

  async leave({ calls, signal }, { chat }) {
    const peer = await calls.peer(chat, signal)
    const userId = { _: 'inputUserSelf' } as const
    const result =
      peer._ === 'inputPeerChat'
        ? await calls.call(
            { _: 'messages.deleteChatUser', chatId: peer.chatId, userId },
            { signal },
          )
        : await calls.call(
            { _: 'channels.leaveChannel', channel: await calls.channel(chat, signal) },
            { signal },
          )
    calls.take(result)
    return done
  },
}

async function chatPhoto(
  context: Context,
  photo: Media | undefined,
): Promise<tl.TypeInputChatPhoto> {
  if (!photo) return { _: 'inputChatPhotoEmpty' }
  if ('native' in photo.file) return { _: 'inputChatPhoto', id: await storedPhoto(context, photo) }
  return { _: 'inputChatUploadedPhoto', file: await upload(context, photo) }
}

async function newestPin(context: Context, chat: string): Promise<string> {
  const { pinned } = await described(context, chat)
  if (!pinned) throw messageNotFound('message to unpin')
  return pinned.native
}
