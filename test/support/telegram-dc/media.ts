/** What a message carries, as it is sent and as its readers get to see it. */
import { Long, type tl } from '@mtcute/core'
import { RpcRefusal } from './data-centre.ts'
import { now } from './delivery.ts'
import type { FileStore, StoredFile } from './files.ts'

export function mediaOf(files: FileStore, input: tl.TypeInputMedia): tl.TypeMessageMedia {
  switch (input._) {
    case 'inputMediaUploadedPhoto':
      return {
        _: 'messageMediaPhoto',
        photo: photoOf(files, files.finish(input.file)),
        ...filmOf(files, input),
      }
    case 'inputMediaUploadedDocument': {
      const file = files.finish(input.file)
      const document = documentOf(files, file, input)
      files.documents.set(document.id.toString(), document)
      return { _: 'messageMediaDocument', document, ...frameOf(files, input) }
    }
    case 'inputMediaPhoto': {
      if (input.id._ !== 'inputPhoto') break
      const { id } = input.id
      const size = files.read(id)?.length ?? 0
      return {
        _: 'messageMediaPhoto',
        photo: photoOf(files, { id, size }),
        ...filmOf(files, input),
      }
    }
    case 'inputMediaDocument': {
      if (input.id._ !== 'inputDocument') break
      const document = files.documents.get(input.id.id.toString())
      if (!document) break
      return { _: 'messageMediaDocument', document, ...frameOf(files, input) }
    }
    case 'inputMediaGeoPoint':
      return { _: 'messageMediaGeo', geo: pointOf(input.geoPoint) }
    case 'inputMediaGeoLive': {
      const geo = pointOf(input.geoPoint)
      if (input.stopped) return { _: 'messageMediaGeo', geo }
      return { _: 'messageMediaGeoLive', geo, period: input.period ?? 0 }
    }
    case 'inputMediaVenue': {
      const { _, geoPoint, ...venue } = input
      return { _: 'messageMediaVenue', geo: pointOf(geoPoint), ...venue }
    }
    case 'inputMediaContact': {
      const { _, ...contact } = input
      return { _: 'messageMediaContact', ...contact, userId: 0 }
    }
    case 'inputMediaPoll': {
      const id = input.poll.id.isZero() ? new Long(files.nextPoll++, 1) : input.poll.id
      const { attachedMedia, solution, solutionEntities, solutionMedia } = input
      const answers = input.poll.answers.map((answer, place) => answerOf(files, answer, place))
      return {
        _: 'messageMediaPoll',
        poll: { ...input.poll, answers, id },
        results: {
          _: 'pollResults',
          totalVoters: 0,
          ...(solution !== undefined && { solution, solutionEntities: solutionEntities ?? [] }),
          ...(solutionMedia && { solutionMedia: storedOf(files, solutionMedia) }),
        },
        ...(attachedMedia && { attachedMedia: storedOf(files, attachedMedia) }),
      }
    }
    case 'inputMediaWebPage': {
      const { _, optional, url, ...shown } = input
      return { ...pageAt(url), manual: true, ...shown }
    }
    case 'inputMediaTodo':
      return { _: 'messageMediaToDo', todo: input.todo }
    case 'inputMediaDice':
      return { _: 'messageMediaDice', value: 4, emoticon: input.emoticon }
  }
  throw new RpcRefusal(400, 'MEDIA_INVALID')
}

/** An option whose sender left its name to the network gets one. */
function answerOf(files: FileStore, answer: tl.TypePollAnswer, place: number): tl.RawPollAnswer {
  if (answer._ === 'pollAnswer') return answer
  const { text, media } = answer
  const option = Uint8Array.of(0x40 + place)
  return { _: 'pollAnswer', text, option, ...(media && { media: storedOf(files, media) }) }
}

/** Only files that were uploaded before may belong to a poll. */
function storedOf(files: FileStore, media: tl.TypeInputMedia): tl.TypeMessageMedia {
  if ('file' in media) throw new RpcRefusal(400, 'MEDIA_INVALID')
  return mediaOf(files, media)
}

/** What makes a photo a live one. */
function filmOf(
  files: FileStore,
  { video, livePhoto }: tl.RawInputMediaUploadedPhoto | tl.RawInputMediaPhoto,
) {
  if (!livePhoto || video?._ !== 'inputDocument') return undefined
  const document = files.documents.get(video.id.toString())
  if (!document) throw new RpcRefusal(400, 'MEDIA_INVALID')
  return { livePhoto, video: document }
}

/** What is shown of a page; the network itself finds those that a text links to. */
export const pageAt = (url: string): tl.RawMessageMediaWebPage => ({
  _: 'messageMediaWebPage',
  webpage: { _: 'webPageEmpty', id: Long.ZERO, url },
})

function pointOf(point: tl.TypeInputGeoPoint): tl.TypeGeoPoint {
  if (point._ !== 'inputGeoPoint') return { _: 'geoPointEmpty' }
  return { _: 'geoPoint', lat: point.lat, long: point.long, accessHash: Long.ONE }
}

export const documentOf = (
  files: FileStore,
  { id, size }: StoredFile,
  { mimeType, attributes }: { mimeType: string; attributes: tl.TypeDocumentAttribute[] },
): tl.RawDocument => ({
  _: 'document',
  id,
  accessHash: Long.ONE,
  fileReference: files.reference,
  date: now(),
  mimeType,
  size,
  dcId: 2,
  attributes,
})

export const photoOf = (files: FileStore, { id, size }: StoredFile): tl.RawPhoto => ({
  _: 'photo',
  id,
  accessHash: Long.ONE,
  fileReference: files.reference,
  date: now(),
  dcId: 2,
  sizes: [
    { _: 'photoSize', type: 'm', w: 320, h: 240, size: Math.min(size, 1000) },
    { _: 'photoSize', type: 'x', w: 800, h: 600, size },
  ],
})

/** What a message says of a video. */
function frameOf(
  files: FileStore,
  { videoCover, videoTimestamp }: tl.RawInputMediaUploadedDocument | tl.RawInputMediaDocument,
) {
  const id = videoCover?._ === 'inputPhoto' ? videoCover.id : undefined
  return {
    ...(id && { videoCover: photoOf(files, { id, size: files.read(id)?.length ?? 0 }) }),
    ...(videoTimestamp !== undefined && { videoTimestamp }),
  }
}

/** As somebody gets to see it who asks again: with a reference that is good now. */
export function refreshed<Message extends tl.TypeMessage>(files: FileStore, message: Message) {
  if (message._ !== 'message' || !message.media) return message
  const { media } = message
  const fileReference = files.reference
  if (media._ === 'messageMediaDocument' && media.document?._ === 'document') {
    return { ...message, media: { ...media, document: { ...media.document, fileReference } } }
  }
  if (media._ === 'messageMediaPhoto' && media.photo?._ === 'photo') {
    return { ...message, media: { ...media, photo: { ...media.photo, fileReference } } }
  }
  return message
}
