/** What people and chats of the test network show of themselves: names, words and pictures. */
import { Long, type tl } from '@mtcute/core'
import type { Place } from './channel.ts'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import { photoOf } from './media.ts'
import type { TelegramNetwork } from './network.ts'
import { type Person, userOf } from './people.ts'

export function profileHandlers(network: TelegramNetwork): Handlers {
  const { files } = network
  const uploaded = (file: tl.TypeInputFile | undefined): tl.RawPhoto => {
    if (!file) throw new RpcRefusal(400, 'PHOTO_FILE_MISSING')
    const photo = photoOf(files, files.finish(file))
    network.pictures.set(photo.id.toString(), photo)
    return photo
  }
  const known = (input: tl.TypeInputPhoto): tl.RawPhoto | undefined => {
    if (input._ === 'inputPhotoEmpty') return undefined
    const photo = network.pictures.get(input.id.toString())
    if (photo) return photo
    throw new RpcRefusal(400, 'PHOTO_ID_INVALID')
  }
  const setPhoto = (place: Place | undefined, input: tl.TypeInputChatPhoto, origin: Origin) => {
    if (!place) throw new RpcRefusal(400, 'CHAT_ID_INVALID')
    const photo = photoIn(input)
    if (photo) place.photo = photo
    else delete place.photo
    return network.delivery.answer(network.asker(origin), [])
  }
  const photoIn = (input: tl.TypeInputChatPhoto) => {
    if (input._ === 'inputChatPhotoEmpty') return undefined
    return input._ === 'inputChatPhoto' ? known(input.id) : uploaded(input.file)
  }
  const shown = (person: Person, photo: tl.TypePhoto): tl.photos.RawPhoto => ({
    _: 'photos.photo',
    photo,
    users: [userOf(person, person)],
  })

  return {
    'account.updateEmojiStatus': ({ emojiStatus }, origin) => {
      network.asker(origin).emojiStatus = emojiStatus
      return true
    },
    'messages.editChatPhoto': ({ chatId, photo }, origin) =>
      setPhoto(network.places.get(chatId), photo, origin),
    'channels.editPhoto': ({ channel, photo }, origin) => {
      const id = channel._ === 'inputChannel' ? channel.channelId : 0
      return setPhoto(network.places.get(id), photo, origin)
    },
    'account.updateUsername': ({ username }, origin) => {
      const person = network.asker(origin)
      const isTaken = [...network.people.values()].some((one) => one.username === username)
      if (username && isTaken) throw new RpcRefusal(400, 'USERNAME_OCCUPIED')
      person.username = username
      return userOf(person, person)
    },
    'account.updateProfile': ({ firstName, lastName, about }, origin) => {
      const person = network.asker(origin)
      if ([...(about ?? '')].length > 70) throw new RpcRefusal(400, 'ABOUT_TOO_LONG')
      person.firstName = firstName ?? person.firstName
      person.lastName = lastName ?? person.lastName
      person.about = about ?? person.about
      return userOf(person, person)
    },
    'photos.uploadProfilePhoto': ({ file, video, videoStartTs }, origin) => {
      const person = network.asker(origin)
      const photo = uploaded(video ?? file)
      if (video) {
        const size = { type: 'u', w: 640, h: 640, size: 0, videoStartTs: videoStartTs ?? 0 }
        photo.videoSizes = [{ _: 'videoSize', ...size }]
      }
      person.photos = [photo, ...person.photos]
      return shown(person, photo)
    },
    'photos.updateProfilePhoto': ({ id }, origin) => {
      const person = network.asker(origin)
      const photo = known(id)
      person.photos = photo ? [photo, ...person.photos] : person.photos.slice(1)
      return shown(person, photo ?? { _: 'photoEmpty', id: Long.ZERO })
    },
    'users.getSavedMusic': ({ id, offset, limit }, origin) => {
      const asker = network.asker(origin)
      const music = (id._ === 'inputUser' ? network.people.get(id.userId) : asker)?.music ?? []
      const documents = music
        .slice(offset, offset + limit)
        .map((song) => ({ ...song, fileReference: files.reference }))
      return { _: 'users.savedMusic', count: music.length, documents }
    },
    'photos.getUserPhotos': ({ userId }, origin) => {
      const asker = network.asker(origin)
      const person = userId._ === 'inputUser' ? network.people.get(userId.userId) : asker
      return { _: 'photos.photos', photos: [...(person?.photos ?? [])], users: [] }
    },
  }
}
