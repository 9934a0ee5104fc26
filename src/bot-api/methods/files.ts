/** Methods about files that are there already, and about the photos of people and chats. */

import { badRequest } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import { folderOf } from '../../media/media.ts'
import { Arguments } from '../arguments.ts'
import { uniqueFileId } from '../file-id.ts'
import { animatedPhotoOf, mediaOf, uploadOf } from '../media.ts'
import { type Call, type Method, result } from '../method.ts'

/** Seconds. */
const LONGEST_ANIMATION = 10

const getFile: Method = {
  name: 'getFile',
  summary: 'Where a file can be downloaded, for at least an hour',
  scope: 'bot:receive',
  operation: undefined,
  parameters: { file_id: 'string' },
  required: ['file_id'],
  run: async ({ args, key, world }) => {
    const fileId = args.text('file_id')
    if (fileId === undefined) throw badRequest('file_id not specified')
    const { credentialId } = key.facts
    const file = world.fileIds.read(credentialId, fileId)
    if (!file) throw badRequest('invalid file_id')
    const { path, size } = await world.paths.issue({
      credentialId,
      folder: folderOf[file.kind],
      file: { native: file.native },
    })
    return result({
      file_id: fileId,
      file_unique_id: uniqueFileId(file.unique ?? file.native),
      ...(size !== undefined && { file_size: size }),
      file_path: path,
    })
  },
}

/** A page of a list in a person's profile, the newest first. */
const ofProfile = (
  name: string,
  summary: string,
  kind: 'profile_photos' | 'profile_audios',
): Method => ({
  name,
  summary,
  scope: undefined,
  operation: kind,
  parameters: { user_id: 'integer', offset: 'integer', limit: 'integer' },
  required: ['user_id'],
  run: async ({ args, perform }) =>
    result(
      await perform({
        kind,
        person: args.userId(),
        offset: args.integer('offset', { min: 0, max: 2 ** 31 - 1 }),
        limit: args.has('limit') ? args.integer('limit', { min: 1, max: 100 }) : 100,
      }),
    ),
})

const setChatPhoto: Method = {
  name: 'setChatPhoto',
  summary: 'Gives a chat a photo',
  scope: 'bot:send',
  operation: 'set_photo',
  parameters: { chat_id: 'chat', photo: 'file' },
  required: ['chat_id', 'photo'],
  run: async (call) => {
    const chat = call.args.chat()
    const isGiven = call.args.has('photo') || call.uploads.has('photo')
    if (!isGiven) throw badRequest('there is no photo in the request')
    if (!uploadOf(call, call.args, 'photo'))
      throw badRequest('photo must be uploaded as an InputFile')
    const photo = await mediaOf(call, 'photo')
    return result(await call.perform({ kind: 'set_photo', chat, photo }))
  },
}

const setMyProfilePhoto: Method = {
  name: 'setMyProfilePhoto',
  summary: 'Gives the account a photo',
  scope: 'bot:send',
  operation: 'set_profile_photo',
  parameters: { photo: 'json' },
  required: ['photo'],
  run: async (call) =>
    result(await call.perform({ kind: 'set_profile_photo', ...(await profilePhoto(call)) })),
}

const removeMyProfilePhoto: Method = {
  name: 'removeMyProfilePhoto',
  summary: 'Takes the photo of the account away',
  scope: 'bot:send',
  operation: 'set_profile_photo',
  parameters: {},
  required: [],
  run: async ({ perform }) => result(await perform({ kind: 'set_profile_photo' })),
}

interface ProfilePhoto {
  readonly photo: Media
  readonly frameAt?: number
}

/** `photo` is an InputProfilePhoto: its file comes along with the call. */
export async function profilePhoto(call: Call): Promise<ProfilePhoto> {
  if (!call.args.has('photo')) throw badRequest("photo isn't specified")
  const item = Arguments.from(
    call.args.object('photo', 'photo', 'object expected as profile photo'),
  )
  const type = item.text('type')
  if (type !== 'static' && type !== 'animated')
    throw badRequest('unsupported profile photo type specified')
  if (type === 'animated') return animatedPhoto(call, item)
  if (!uploadOf(call, item, 'photo')) throw badRequest('photo must be uploaded as an InputFile')
  return { photo: await mediaOf(call, 'photo', 'photo', item) }
}

async function animatedPhoto(call: Call, item: Arguments): Promise<ProfilePhoto> {
  if (!uploadOf(call, item, 'animation'))
    throw badRequest('animation must be uploaded as an InputFile')
  const frameAt = item.number('main_frame_timestamp')
  if (frameAt < 0 || frameAt > LONGEST_ANIMATION)
    throw badRequest('wrong main frame timestamp specified')
  return { photo: await animatedPhotoOf(call, item, frameAt), frameAt }
}

export const fileMethods = [
  getFile,
  ofProfile('getUserProfilePhotos', 'The photos of somebody', 'profile_photos'),
  ofProfile('getUserProfileAudios', 'The music in the profile of somebody', 'profile_audios'),
  setChatPhoto,
  setMyProfilePhoto,
  removeMyProfilePhoto,
]
