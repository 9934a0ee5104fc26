/** The pictures of chats and of the account itself. */
import type { tl } from '@mtcute/node'
import type { Media } from '../../../../machines/model/content.ts'
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { locate, named, upload } from '../files.ts'
import { type Context, done } from './context.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function setPhoto(
  context: Context,
  { chat, photo: given }: Of<'set_photo'>,
): Promise<OperationResult> {
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
}

export async function setProfilePhoto(
  context: Context,
  { photo }: Of<'set_profile_photo'>,
): Promise<OperationResult> {
  const { calls, signal } = context
  if (photo && 'blob' in photo.file) {
    const file = await upload(context, photo)
    await calls.call({ _: 'photos.uploadProfilePhoto', file }, { signal })
  } else {
    const id = photo ? await known(context, photo) : ({ _: 'inputPhotoEmpty' } as const)
    await calls.call({ _: 'photos.updateProfilePhoto', id }, { signal })
  }
  return done
}

async function chatPhoto(
  context: Context,
  photo: Media | undefined,
): Promise<tl.TypeInputChatPhoto> {
  if (!photo) return { _: 'inputChatPhotoEmpty' }
  if ('native' in photo.file) return { _: 'inputChatPhoto', id: await known(context, photo) }
  return { _: 'inputChatUploadedPhoto', file: await upload(context, photo) }
}

/** A picture that the network has already. */
async function known({ calls, signal }: Context, { file }: Media): Promise<tl.RawInputPhoto> {
  const found = 'native' in file ? await locate(calls, named(file.native), signal) : undefined
  if (found?._ !== 'photo') throw failed('bad_request', 'the file is no photo')
  const { id, accessHash, fileReference } = found
  return { _: 'inputPhoto', id, accessHash, fileReference }
}
