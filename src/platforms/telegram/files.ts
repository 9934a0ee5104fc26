/** Files of the network: named, found again by their names, read from any place on, and uploaded. */
import { downloadAsIterable, uploadFile } from '@mtcute/core/methods.js'
import { fileIdToInputDocument, fileIdToInputPhoto } from '@mtcute/core/utils.js'
import { Long, type tl } from '@mtcute/node'
import { blobMoved } from '../../../actors/credential/perform.ts'
import { within } from '../../../actors/host/time.ts'
import { type FileStream, LONGEST_TRANSFER_MS } from '../../../actors/ports/platform.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { MediaService } from '../../media/media.ts'
import { webStreamOf } from '../../media/web-stream.ts'
import { wrongFile } from '../kit/failures.ts'
import type { CallOptions, Calls } from './calls.ts'
import { findMessage } from './find-message.ts'

export type FileName = {
  readonly chat: string
  /** Its number on the network. */
  readonly id: string
  /** Which size of a picture it is; absent: the file itself. */
  readonly size?: string
} & (
  | { readonly of: 'message'; readonly message: number }
  /** The picture of a chat or a person. */
  | { readonly of: 'peer' }
  /** One of the pictures that a person has shown. */
  | { readonly of: 'profile' }
  /** A piece of music in the profile of a person. */
  | { readonly of: 'music' }
  /** A sticker of the set that `chat` names, or a custom emoji. */
  | { readonly of: 'set' | 'emoji' }
  /** The picture of a gift: `chat` is the name of an upgraded one, or `catalogue`. */
  | { readonly of: 'gift' }
  /** Uploaded and in no message yet: `chat` is its access hash, and `size` its reference in hexadecimal digits. */
  | { readonly of: 'upload' }
  /** The same of a photo. */
  | { readonly of: 'photo' }
)

/** File references expire, numbers do not: names contain only numbers. */
export function writeFileName(file: FileName): string {
  const place = file.of === 'message' ? `${file.message}` : file.of
  return [file.chat, place, file.id, ...(file.size === undefined ? [] : [file.size])].join('.')
}

function readFileName(native: string): FileName | undefined {
  const found =
    /^([\w-]+)\.(\d+|peer|profile|music|set|emoji|gift|upload)\.(-?\d+)(?:\.(\w+))?$/.exec(native)
  if (!found) return foreignFile(native)
  const [, chat = '', place = '', id = '', size] = found
  const common = { chat, id, ...(size !== undefined && { size }) }
  if (isPlace(place)) return { ...common, of: place }
  return { ...common, of: 'message', message: Number(place) }
}

/** A file_id in the network's own form: other programs of this account get and give such. */
function foreignFile(fileId: string): FileName | undefined {
  const forms = [
    ['photo', fileIdToInputPhoto],
    ['upload', fileIdToInputDocument],
  ] as const
  for (const [of, read] of forms) {
    try {
      const { id, accessHash, fileReference } = read(fileId)
      const size = Buffer.from(fileReference).toString('hex')
      return { of, chat: accessHash.toString(), id: id.toString(), size }
    } catch {
      // It does not have this form.
    }
  }
  return undefined
}

const PLACES = ['peer', 'profile', 'music', 'set', 'emoji', 'gift', 'upload'] as const
const isPlace = (place: string): place is (typeof PLACES)[number] =>
  PLACES.some((known) => known === place)

/** How far a download runs ahead of its reader: the library itself fetches a whole file, however slowly it is read. */
class ReadAhead {
  readonly #limit: number
  #asked = 0
  #taken = 0
  #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Resolves once the next `bytes` may be asked for. They count from where they begin, so the first ones never wait. */
  readonly turn = async (bytes: number): Promise<void> => {
    const from = this.#asked
    this.#asked += bytes
    while (from - this.#taken > this.#limit) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  take(bytes: number): void {
    this.#taken += bytes
    this.#wake()
  }

  /** Lets a waiting download go on. The library itself then sees that the download has ended. */
  end(): void {
    this.#taken = Number.POSITIVE_INFINITY
    this.#wake()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

type Located = tl.RawDocument | tl.RawPhoto

/** The network refuses a piece that reaches over a megabyte. Those of the library are even parts of one, or all of it. */
const STEP = 2 ** 20
/** Bytes of one file held in memory for its reader. */
const AHEAD_BYTES = 2 ** 21
/** The time limit of one piece. */
const PIECE_MS = 120_000

export async function download(
  calls: Calls,
  native: string,
  offset: number,
  signal: AbortSignal,
): Promise<FileStream> {
  const name = parseFileName(native)
  if (name.of === 'upload' || name.of === 'photo') throw gone()
  const { location, centre, size, fileName } =
    name.of === 'peer'
      ? { location: await pictureLocation(calls, name, signal), centre: undefined }
      : fileLocation(await locate(calls, name, signal), name.size)
  // Without the abort, the library would continue to fetch a file whose reader has left.
  const left = new AbortController()
  const abortSignal = AbortSignal.any([
    signal,
    left.signal,
    AbortSignal.timeout(LONGEST_TRANSFER_MS),
  ])
  const ahead = new ReadAhead(AHEAD_BYTES)
  abortSignal.addEventListener('abort', () => ahead.end(), { once: true })
  const chunks = downloadAsIterable(calls.client, location, {
    offset: offset - (offset % STEP),
    abortSignal,
    throttle: ahead.turn,
    ...(centre !== undefined && { dcId: centre }),
    ...(size !== undefined && { fileSize: size }),
  })
  const pieces = { chunks, ahead, signal: abortSignal, leave: () => left.abort() }
  return {
    stream: webStreamOf(without(offset % STEP, pieces), (reason) => left.abort(reason)),
    ...(size !== undefined && { size }),
    ...(fileName !== undefined && { name: fileName }),
  }
}

/** The file with a new reference, because the network's references expire. */
export async function locate(calls: Calls, name: FileName, signal: AbortSignal): Promise<Located> {
  const found = await filesAt(calls, name, signal)
  const file = found.find((file) => file.id.toString() === name.id)
  if (file) return file
  throw gone()
}

async function filesAt(calls: Calls, name: FileName, signal: AbortSignal): Promise<Located[]> {
  const readOptions = { signal, readsOnly: true }
  switch (name.of) {
    case 'message':
      return filesIn(await findMessage(calls, name.chat, name.message, signal))
    case 'set': {
      const stickerset = { _: 'inputStickerSetShortName', shortName: name.chat } as const
      const set = await calls.call(
        { _: 'messages.getStickerSet', stickerset, hash: 0 },
        readOptions,
      )
      return set._ === 'messages.stickerSet' ? set.documents.filter(isDocument) : []
    }
    case 'emoji': {
      const documentId = [Long.fromString(name.id)]
      const request = { _: 'messages.getCustomEmojiDocuments', documentId } as const
      return (await calls.call({ ...request, documentId }, readOptions)).filter(isDocument)
    }
    case 'gift':
      return giftPictures(calls, name, readOptions)
    case 'music':
      return profileMusic(calls, name, signal)
    case 'upload':
      return [uploadedBefore(name)]
    case 'photo':
      return [{ ...referenceOf(name), _: 'photo', sizes: [] }]
    default:
      return profilePhoto(calls, name, signal)
  }
}

async function giftPictures(calls: Calls, { chat }: FileName, readOptions: CallOptions) {
  if (chat === CATALOGUE) {
    const found = await calls.call({ _: 'payments.getStarGifts', hash: 0 }, readOptions)
    const gifts = found._ === 'payments.starGifts' ? found.gifts : []
    return gifts.flatMap((gift) => ('sticker' in gift ? [gift.sticker].filter(isDocument) : []))
  }
  const { gift } = await calls.call({ _: 'payments.getUniqueStarGift', slug: chat }, readOptions)
  const attributes = gift._ === 'starGiftUnique' ? gift.attributes : []
  return attributes.flatMap((one) => ('document' in one ? [one.document].filter(isDocument) : []))
}

/** Stands for the gifts that everybody can buy. */
export const CATALOGUE = 'catalogue'

const isDocument = (document: tl.TypeDocument): document is tl.RawDocument =>
  document._ === 'document'

const referenceOf = ({ chat, id, size = '' }: FileName) => ({
  id: Long.fromString(id),
  accessHash: Long.fromString(chat),
  fileReference: Buffer.from(size, 'hex'),
  date: 0,
  dcId: 0,
})

/** A document of which only the name is known. */
const uploadedBefore = (name: FileName): tl.RawDocument => ({
  ...referenceOf(name),
  _: 'document',
  mimeType: 'application/octet-stream',
  size: 0,
  attributes: [],
})

export function parseFileName(native: string): FileName {
  const name = readFileName(native)
  if (!name) throw wrongFile()
  return name
}

const gone = () => failed('bad_request', 'the file is no longer available')

export interface UploadContext {
  readonly calls: Calls
  readonly media: Pick<MediaService, 'open'>
  readonly signal: AbortSignal
}

/** Bytes of the gateway's store, on their way to be part of a message. */
export async function upload(
  { calls, media, signal }: UploadContext,
  file: Media,
): Promise<tl.TypeInputFile> {
  if (!('blob' in file.file)) throw new Error('the file is on the network already')
  const { blob } = file.file
  const { stream, size } = await media.open(blob)
  try {
    const uploaded = await calls.attempt(
      (abortSignal) =>
        uploadFile(calls.client, {
          file: stream,
          fileName: file.name ?? nameFor(file),
          fileSize: size,
          fileMime: file.mime ?? 'application/octet-stream',
          // With few requests at once, a slow connection shows progress earlier.
          requestsPerConnection: 1,
          // Counts confirmed bytes: bytes that were read may not have arrived yet.
          progressCallback: () => blobMoved(blob),
          abortSignal,
        }),
      { signal, readsOnly: true, milliseconds: LONGEST_TRANSFER_MS },
    )
    return uploaded.inputFile
  } finally {
    stream.destroy()
  }
}

const nameFor = ({ kind, mime }: Media) => (mime === 'image/jpeg' ? `${kind}.jpg` : kind)

function fileLocation(file: Located, size = '') {
  const { id, accessHash, fileReference, dcId: centre } = file
  const facts = { id, accessHash, fileReference, thumbSize: size }
  if (file._ === 'photo') {
    const shown = file.sizes.find((one) => 'type' in one && one.type === size)
    const bytes = shown?._ === 'photoSize' && shown.size >= 0 ? shown.size : undefined
    const location = { _: 'inputPhotoFileLocation', ...facts } as const
    return { location, centre, ...(bytes !== undefined && { size: bytes }) }
  }
  const location = { _: 'inputDocumentFileLocation', ...facts } as const
  if (size !== '') return { location, centre }
  const fileName = file.attributes.find((one) => one._ === 'documentAttributeFilename')?.fileName
  const bytes = file.size >= 0 ? file.size : undefined
  return { location, centre, size: bytes, fileName }
}

async function pictureLocation(calls: Calls, { chat, id, size }: FileName, signal: AbortSignal) {
  return {
    _: 'inputPeerPhotoFileLocation',
    peer: await calls.peer(chat, signal),
    photoId: Long.fromString(id),
    ...(size === 'big' && { big: true }),
  } as const
}

async function profilePhoto(calls: Calls, { chat, id }: FileName, signal: AbortSignal) {
  const userId = await calls.user(chat, signal)
  const photos = await calls.call(
    { _: 'photos.getUserPhotos', userId, offset: -1, maxId: Long.fromString(id), limit: 1 },
    { signal, readsOnly: true },
  )
  return photos.photos.filter((photo) => photo._ === 'photo')
}

/** A profile's music can be found by its numbers only together with access hashes, so it is read page by page. */
async function profileMusic(calls: Calls, { chat, id: sought }: FileName, signal: AbortSignal) {
  const id = await calls.user(chat, signal)
  for (let offset = 0; ; ) {
    const request = { _: 'users.getSavedMusic', id, offset, limit: 100, hash: Long.ZERO } as const
    const found = await calls.call(request, { signal, readsOnly: true })
    const page = found._ === 'users.savedMusic' ? found.documents.filter(isDocument) : []
    if (page.length === 0 || page.some((song) => song.id.toString() === sought)) return page
    offset += page.length
  }
}

/** The files of a message, with those of a new chat picture and of a link preview. */
function filesIn(message: tl.RawMessage | tl.RawMessageService): Located[] {
  return filesShown(message).filter((file) => file?._ === 'photo' || file?._ === 'document')
}

type Shown = tl.TypePhoto | tl.TypeDocument | undefined

function filesShown(message: tl.RawMessage | tl.RawMessageService): readonly Shown[] {
  if (message._ === 'messageService') {
    return message.action._ === 'messageActionChatEditPhoto' ? [message.action.photo] : []
  }
  const { media, richMessage } = message
  if (richMessage) return [...richMessage.photos, ...richMessage.documents]
  return media ? filesOf(media) : []
}

function filesOf(media: tl.TypeMessageMedia): readonly Shown[] {
  switch (media._) {
    case 'messageMediaPhoto':
      return [media.photo, media.video]
    case 'messageMediaDocument':
      return [media.document, media.videoCover]
    case 'messageMediaPaidMedia':
      return media.extendedMedia.flatMap((item) => ('media' in item ? filesOf(item.media) : []))
    case 'messageMediaGame':
      return [media.game.photo, media.game.document]
    case 'messageMediaPoll':
      return besides(media).flatMap((beside) => (beside ? filesOf(beside) : []))
    default:
      return []
  }
}

/** The media of the parts of a poll. */
const besides = ({ poll, results, attachedMedia }: tl.RawMessageMediaPoll) => [
  attachedMedia,
  results.solutionMedia,
  ...poll.answers.map((answer) => (answer._ === 'pollAnswer' ? answer.media : undefined)),
]

interface Pieces {
  readonly chunks: AsyncIterator<Uint8Array>
  readonly ahead: ReadAhead
  readonly signal: AbortSignal
  leave(): void
}

/** The library reports an end or error only to a reader that waits already: a later one would wait for ever. */
async function* without(bytes: number, { chunks, ahead, signal, leave }: Pieces) {
  let left = bytes
  try {
    for (;;) {
      const { value, done } = await within(PIECE_MS, signal, () => chunks.next())
      if (done) return
      ahead.take(value.length)
      if (left < value.length) yield value.subarray(left)
      left = Math.max(0, left - value.length)
    }
  } finally {
    leave()
  }
}
