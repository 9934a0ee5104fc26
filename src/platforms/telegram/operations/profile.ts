/** The account's own profile, and the profile photos of people. */
import { Long, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/handlers.ts'
import type { Media } from '../../../../machines/model/content.ts'
import { failed } from '../../../../machines/model/failure.ts'
import { locate, named, upload } from '../files.ts'
import { photoOf } from '../reading/media.ts'
import { type Context, done, looking } from './context.ts'

export const profile: Handlers<Context> = {
  async profile_photos(context, { person, offset, limit }) {
    const userId = await context.calls.user(person, context.signal)
    const found = await context.calls.call(
      { _: 'photos.getUserPhotos', userId, offset, limit, maxId: Long.ZERO },
      looking(context),
    )
    const shown = { of: 'profile', chat: person } as const
    const photos = found.photos.flatMap((photo) => photoOf(photo, shown) ?? [])
    const total = found._ === 'photos.photosSlice' ? found.count : photos.length
    return { kind: 'photos', total, photos }
  },

  async set_name({ calls, signal }, { firstName, lastName }) {
    const request = { _: 'account.updateProfile', firstName } as const
    await calls.call({ ...request, ...(lastName !== undefined && { lastName }) }, { signal })
    return done
  },

  async set_about({ calls, signal }, { about }) {
    await calls.call({ _: 'account.updateProfile', about }, { signal })
    return done
  },

  async set_profile_photo(context, { photo }) {
    const { calls, signal } = context
    if (photo && 'blob' in photo.file) {
      const file = await upload(context, photo)
      await calls.call({ _: 'photos.uploadProfilePhoto', file }, { signal })
    } else {
      const id = photo ? await storedPhoto(context, photo) : ({ _: 'inputPhotoEmpty' } as const)
      await calls.call({ _: 'photos.updateProfilePhoto', id }, { signal })
    }
    return done
  },
}

/** A photo that the network has stored already. */
export async function storedPhoto(
  { calls, signal }: Context,
  { file }: Media,
): Promise<tl.RawInputPhoto> {
  const found = 'native' in file ? await locate(calls, named(file.native), signal) : undefined
  if (found?._ !== 'photo') throw failed('bad_request', 'the file is no photo')
  const { id, accessHash, fileReference } = found
  return { _: 'inputPhoto', id, accessHash, fileReference }
}
