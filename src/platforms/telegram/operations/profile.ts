/** The account's own profile and stories, and the profile photos and profile music of people. */
import { Long, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import { failed, notFound } from '../../../../machines/model/failure.ts'
import type { Media } from '../../../../machines/model/media.ts'
import type { OperationOf, OperationResult } from '../../../../machines/model/operation.ts'
import type { Text } from '../../../../machines/model/text.ts'
import { textOf } from '../entities.ts'
import { locate, parseFileName, upload } from '../files.ts'
import { documentOf, photoOf } from '../reading/media.ts'
import { chatOf } from '../reading/peers.ts'
import { inputMediaOf } from '../writing/media.ts'
import { type Context, done, randomId, readOptions, untold, writtenText } from './context.ts'
import { isRepeated } from './repeated.ts'

/** The account's own stories: posted for everybody, and deleted. */
const self: tl.RawInputPeerSelf = { _: 'inputPeerSelf' }

export const stories: Handlers<Context> = {
  async post_story(context, operation) {
    const { caption } = operation
    const { media } = await inputMediaOf(context, { ...operation, kind: 'media' })
    return posted(context, operation, { media, caption })
  },

  /** As the network's apps do it: its file again, with the name of where it is from. */
  async repost_story(context, operation) {
    const { calls, signal } = context
    const { from, story: id } = operation
    const peer = await calls.peer(from, signal)
    const asked = { _: 'stories.getStoriesByID', peer, id: [id] } as const
    const { stories } = await calls.call({ ...asked, id: [id] }, readOptions(context))
    const story = stories.find((one) => one._ === 'storyItem')
    if (!story) throw notFound('story')
    if (story.noforwards) throw failed('bad_request', "story can't be forwarded")
    const caption = textOf(story.caption ?? '', story.entities)
    const origin = { fwdFromId: peer, fwdFromStory: id }
    return posted(context, operation, { media: mediaAgain(story.media), caption, ...origin })
  },

  async edit_story(context, { story: id, media: given, caption }) {
    const { calls, signal } = context
    const { media } = await inputMediaOf(context, { kind: 'media', media: given, caption })
    const entities = await writtenText(context, caption)
    const text = { caption: caption.text, entities }
    const request = { _: 'stories.editStory', peer: self, id, media, ...text } as const
    calls.take(await calls.call(request, { signal }))
    return { kind: 'story', story: { chat: await ownChat(context), id } }
  },

  async delete_story({ calls, signal }, { story }) {
    const request = { _: 'stories.deleteStories', peer: self, id: [story] } as const
    const deleted = await calls.call({ ...request, id: [story] }, { signal })
    if (deleted.includes(story)) return done
    throw notFound('story')
  },
}

interface Posting
  extends Pick<tl.stories.RawSendStoryRequest, 'media' | 'fwdFromId' | 'fwdFromStory'> {
  readonly caption: Text
}

async function posted(
  context: Context,
  terms: Pick<OperationOf<'repost_story'>, 'activeSeconds' | 'isKept' | 'isProtected'>,
  { caption, ...posting }: Posting,
): Promise<OperationResult> {
  const { calls, signal, requestId } = context
  const entities = await writtenText(context, caption)
  const result = await calls
    .call(
      {
        _: 'stories.sendStory',
        peer: self,
        ...posting,
        caption: caption.text,
        privacyRules: [{ _: 'inputPrivacyValueAllowAll' }],
        randomId: randomId(requestId),
        period: terms.activeSeconds,
        ...(entities.length > 0 && { entities }),
        ...(terms.isKept && { pinned: true }),
        ...(terms.isProtected && { noforwards: true }),
      },
      { signal },
    )
    .catch((cause) => {
      if (!isRepeated(cause)) throw cause
    })
  const id = result
    ? calls.take(result).updates.find((update) => update._ === 'updateStoryID')?.id
    : await postedBefore(context, caption.text)
  if (id !== undefined) return { kind: 'story', story: { chat: await ownChat(context), id } }
  throw untold('posted the story and does not say which it is')
}

function mediaAgain(media: tl.TypeMessageMedia): tl.TypeInputMedia {
  if (media._ === 'messageMediaPhoto' && media.photo?._ === 'photo') {
    const { id, accessHash, fileReference } = media.photo
    const photo = { _: 'inputPhoto', id, accessHash, fileReference } as const
    const film = media.video?._ === 'document' && { livePhoto: true, video: again(media.video) }
    return { _: 'inputMediaPhoto', id: photo, ...film }
  }
  if (media._ === 'messageMediaDocument' && media.document?._ === 'document') {
    return { _: 'inputMediaDocument', id: again(media.document) }
  }
  throw failed('bad_request', "story can't be forwarded")
}

const again = ({ id, accessHash, fileReference }: tl.RawDocument): tl.RawInputDocument => ({
  _: 'inputDocument',
  id,
  accessHash,
  fileReference,
})

/** The network does not say which story used a number: take the newest one with the same caption. */
async function postedBefore(context: Context, caption: string): Promise<number | undefined> {
  const request = { _: 'stories.getPeerStories', peer: self } as const
  // It is posted, whatever becomes of this reading.
  const found = await context.calls.call(request, readOptions(context)).catch(() => undefined)
  const same = found?.stories.stories.filter((story) => story._ === 'storyItem')
  return same?.findLast((story) => (story.caption ?? '') === caption)?.id
}

async function ownChat({ calls, self: native }: Context) {
  const peer = { _: 'peerUser', userId: Number(native) } as const
  return chatOf(peer, { self: native, peers: await calls.knownNow([peer]) })
}

export const profile: Handlers<Context> = {
  async profile_photos(context, { person, offset, limit }) {
    const userId = await context.calls.user(person, context.signal)
    const found = await context.calls.call(
      { _: 'photos.getUserPhotos', userId, offset, limit, maxId: Long.ZERO },
      readOptions(context),
    )
    const shown = { of: 'profile', chat: person } as const
    const photos = found.photos.flatMap((photo) => photoOf(photo, shown) ?? [])
    const total = found._ === 'photos.photosSlice' ? found.count : photos.length
    return { kind: 'photos', total, photos }
  },

  async profile_audios(context, { person, offset, limit }) {
    const id = await context.calls.user(person, context.signal)
    const found = await context.calls.call(
      { _: 'users.getSavedMusic', id, offset, limit, hash: Long.ZERO },
      readOptions(context),
    )
    const documents = found._ === 'users.savedMusic' ? found.documents : []
    const shown = { of: 'music', chat: person } as const
    const audios = documents.flatMap((document) => documentOf(document, shown) ?? [])
    return { kind: 'audios', total: found.count, audios }
  },

  async set_name({ calls, signal }, { firstName, lastName }) {
    const request = { _: 'account.updateProfile', firstName } as const
    await calls.call({ ...request, ...(lastName !== undefined && { lastName }) }, { signal })
    return done
  },

  /** Empty: the account has no username any more. */
  async set_username({ calls, signal }, { username }) {
    await calls.call({ _: 'account.updateUsername', username }, { signal })
    return done
  },

  async set_about({ calls, signal }, { about }) {
    await calls.call({ _: 'account.updateProfile', about }, { signal })
    return done
  },

  async set_profile_photo(context, { photo, frameAt: videoStartTs = 0 }) {
    const { calls, signal } = context
    if (photo?.live) {
      const video = await upload(context, photo.live)
      await calls.call({ _: 'photos.uploadProfilePhoto', video, videoStartTs }, { signal })
    } else if (photo && 'blob' in photo.file) {
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
  const found =
    'native' in file ? await locate(calls, parseFileName(file.native), signal) : undefined
  if (found?._ !== 'photo') throw failed('bad_request', 'the file is no photo')
  const { id, accessHash, fileReference } = found
  return { _: 'inputPhoto', id, accessHash, fileReference }
}
