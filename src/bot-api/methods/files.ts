/** Methods about files that are there already, and about the photos of people and chats. */

import { failed } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import { folderOf } from '../../media/media.ts'
import { Arguments } from '../arguments.ts'
import { uniqueFileId } from '../file-id.ts'
import { mediaOf, uploadOf } from '../media.ts'
import { type Call, type Method, result } from '../method.ts'

const bad = (description: string) => failed('bad_request', description)

const getFile: Method = {
  name: 'getFile',
  summary: 'Where a file can be downloaded, for at least an hour',
  scope: 'bot:receive',
  operation: undefined,
  parameters: { file_id: 'string' },
  required: ['file_id'],
  run: async ({ args, key, world }) => {
    const fileId = args.text('file_id')
    if (fileId === undefined) throw bad('file_id not specified')
    const { credentialId } = key.facts
    const file = world.fileIds.read(credentialId, fileId)
    if (!file) throw bad('invalid file_id')
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
    if (!uploadOf(call, call.args, 'photo')) throw bad('photo must be uploaded as an InputFile')
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
    result(await call.perform({ kind: 'set_profile_photo', photo: await profilePhoto(call) })),
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

/** `photo` is an InputProfilePhoto: its file comes along with the call. */
export async function profilePhoto(call: Call): Promise<Media> {
  const given = call.args.json('photo')
  if (typeof given !== 'object' || given === null) throw bad("can't parse photo JSON object")
  const item = Arguments.from(given)
  if (item.text('type') !== 'static') {
    throw bad(`animated profile photos are not supported on ${call.platform.name}`)
  }
  if (!uploadOf(call, item, 'photo')) throw bad('photo must be uploaded as an InputFile')
  return mediaOf(call, 'photo', 'photo', item)
}

export const fileMethods = [
  getFile,
  ofProfile('getUserProfilePhotos', 'The photos of somebody', 'profile_photos'),
  ofProfile('getUserProfileAudios', 'The music in the profile of somebody', 'profile_audios'),
  setChatPhoto,
  setMyProfilePhoto,
  removeMyProfilePhoto,
]
