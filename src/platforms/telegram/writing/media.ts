/** The content of a message in the network's terms; files are uploaded on the way. */

import type { tl } from '@mtcute/node'
import type { Content } from '../../../../machines/model/content.ts'
import { failed } from '../../../../machines/model/failure.ts'
import type { Media } from '../../../../machines/model/media.ts'
import type { Poll, PollMedia } from '../../../../machines/model/poll.ts'
import type { Text } from '../../../../machines/model/text.ts'
import { locate, parseFileName, type UploadContext, upload } from '../files.ts'
import { inputChecklistOf, inputPollOf, type PollFiles } from './poll.ts'

interface InputMedia {
  readonly media: tl.TypeInputMedia
  readonly caption?: Text
}

export async function inputMediaOf(context: UploadContext, content: Content): Promise<InputMedia> {
  switch (content.kind) {
    case 'media':
      return {
        media: await carried(context, content.media, content.spoiler ?? false),
        caption: content.caption,
      }
    case 'location':
      return { media: locationOf(content) }
    case 'contact': {
      const { phone, firstName, lastName = '', vcard = '' } = content
      return {
        media: { _: 'inputMediaContact', phoneNumber: phone, firstName, lastName, vcard },
      }
    }
    case 'poll':
      return { media: inputPollOf(content.poll, await pollFilesOf(context, content.poll)) }
    case 'checklist':
      return { media: inputChecklistOf(content.checklist) }
    case 'dice':
      return { media: { _: 'inputMediaDice', emoticon: content.emoji } }
    default:
      throw failed('bad_request', `sending ${content.kind} is not supported on Telegram`)
  }
}

/** The same media once the network has stored its file, which becomes part of no message by that. */
export async function storedMedia(
  { calls, signal }: UploadContext,
  peer: tl.TypeInputPeer,
  media: tl.TypeInputMedia,
): Promise<tl.TypeInputMedia> {
  if (!('file' in media)) return media
  const request = { _: 'messages.uploadMedia', peer, media } as const
  const kept = await calls.call(request, { signal, readsOnly: true })
  const spoiler = 'spoiler' in media && media.spoiler && { spoiler: true }
  const film = 'video' in media && media.video && { livePhoto: true, video: media.video }
  if (kept._ === 'messageMediaPhoto' && kept.photo?._ === 'photo') {
    const id = { ...referenceTo(kept.photo), _: 'inputPhoto' } as const
    return { _: 'inputMediaPhoto', id, ...spoiler, ...film }
  }
  if (kept._ === 'messageMediaDocument' && kept.document?._ === 'document') {
    const id = { ...referenceTo(kept.document), _: 'inputDocument' } as const
    return { _: 'inputMediaDocument', id, ...frameIn(media), ...spoiler }
  }
  throw failed('bad_gateway', 'Telegram did not store the file')
}

function frameIn(media: tl.TypeInputMedia) {
  const { videoTimestamp = undefined, videoCover = undefined } =
    media._ === 'inputMediaUploadedDocument' ? media : {}
  return {
    ...(videoTimestamp !== undefined && { videoTimestamp }),
    ...(videoCover && { videoCover }),
  }
}

const referenceTo = ({ id, accessHash, fileReference }: tl.RawPhoto | tl.RawDocument) => ({
  id,
  accessHash,
  fileReference,
})

async function pollFilesOf(context: UploadContext, poll: Poll): Promise<PollFiles> {
  const options = new Map<number, tl.TypeInputMedia>()
  for (const [place, { media }] of poll.options.entries()) {
    if (media) options.set(place, await inputOf(context, media))
  }
  const { media, explanationMedia } = poll
  return {
    options,
    ...(media && { attached: await inputOf(context, media) }),
    ...(explanationMedia && { solution: await inputOf(context, explanationMedia) }),
  }
}

/** A poll may only contain files that the network has stored already. */
async function inputOf(context: UploadContext, media: PollMedia): Promise<tl.TypeInputMedia> {
  switch (media.kind) {
    case 'media': {
      const carriedMedia = await carried(context, media.media, false)
      return storedMedia(context, { _: 'inputPeerSelf' }, carriedMedia)
    }
    case 'location':
      return locationOf(media)
    case 'link':
      return { _: 'inputMediaWebPage', url: media.url }
  }
}

async function carried(
  context: UploadContext,
  media: Media,
  isSpoiler: boolean,
): Promise<tl.TypeInputMedia> {
  const spoiler = isSpoiler && { spoiler: true }
  const film = media.live && {
    livePhoto: true,
    video: await inputDocumentOf(context, media.live),
  }
  if ('native' in media.file) {
    const file = await locate(context.calls, parseFileName(media.file.native), context.signal)
    const { id, accessHash, fileReference } = file
    const facts = { id, accessHash, fileReference }
    if (file._ === 'photo') {
      return { _: 'inputMediaPhoto', id: { _: 'inputPhoto', ...facts }, ...spoiler, ...film }
    }
    const frame = await frameOf(context, media)
    return { _: 'inputMediaDocument', id: { _: 'inputDocument', ...facts }, ...frame, ...spoiler }
  }
  const file = await upload(context, media)
  if (media.kind === 'photo') return { _: 'inputMediaUploadedPhoto', file, ...spoiler, ...film }
  const thumb = media.thumbnail && (await upload(context, media.thumbnail))
  return {
    _: 'inputMediaUploadedDocument',
    file,
    mimeType: media.mime ?? 'application/octet-stream',
    attributes: attributesOf(media),
    ...(thumb && { thumb }),
    ...(media.kind === 'document' && { forceFile: true }),
    ...(await frameOf(context, media)),
    ...spoiler,
  }
}

/** The second from which a video is played, and the photo that stands for it, which the network stores first. */
async function frameOf(
  context: UploadContext,
  { startSeconds, cover }: Media,
): Promise<Pick<tl.RawInputMediaDocument, 'videoTimestamp' | 'videoCover'>> {
  const given = cover && (await carried(context, cover, false))
  const stored = given && (await storedMedia(context, { _: 'inputPeerSelf' }, given))
  return {
    ...(startSeconds !== undefined && { videoTimestamp: startSeconds }),
    ...(stored?._ === 'inputMediaPhoto' && { videoCover: stored.id }),
  }
}

/** A file that the network has, or that is uploaded now. */
export async function inputDocumentOf(
  context: UploadContext,
  media: Media,
): Promise<tl.RawInputDocument> {
  const { calls, signal } = context
  const file =
    'native' in media.file
      ? await locate(calls, parseFileName(media.file.native), signal)
      : await uploadedDocument(context, media)
  const { id, accessHash, fileReference } = file
  return { _: 'inputDocument', id, accessHash, fileReference }
}

/** A file becomes a document of the network when it is uploaded to a chat, without being sent there. */
export async function uploadedDocument(
  context: UploadContext,
  file: Media,
): Promise<tl.RawDocument> {
  const media = await carried(context, file, false)
  const request = { _: 'messages.uploadMedia', peer: { _: 'inputPeerSelf' }, media } as const
  const found = await context.calls.call(request, { signal: context.signal, readsOnly: true })
  const document = found._ === 'messageMediaDocument' ? found.document : undefined
  if (document?._ !== 'document') throw failed('bad_gateway', 'Telegram did not store the file')
  return document
}

/** The attributes of a file by which clients show it as its kind. */
export function attributesOf(media: Media): tl.TypeDocumentAttribute[] {
  const named: tl.TypeDocumentAttribute[] = media.name
    ? [{ _: 'documentAttributeFilename', fileName: media.name }]
    : []
  return [...ofKind(media), ...named]
}

function ofKind(media: Media): tl.TypeDocumentAttribute[] {
  const { durationSeconds: duration = 0, width: w = 0, height: h = 0 } = media
  switch (media.kind) {
    case 'video':
      return [{ _: 'documentAttributeVideo', supportsStreaming: true, duration, w, h }]
    case 'video_note':
      return [{ _: 'documentAttributeVideo', roundMessage: true, duration, w, h }]
    case 'animation':
      return [
        { _: 'documentAttributeVideo', nosound: true, duration, w, h },
        { _: 'documentAttributeAnimated' },
      ]
    case 'audio':
      return [
        {
          _: 'documentAttributeAudio',
          duration,
          ...(media.title !== undefined && { title: media.title }),
          ...(media.performer !== undefined && { performer: media.performer }),
        },
      ]
    case 'voice':
      return [{ _: 'documentAttributeAudio', voice: true, duration }]
    case 'sticker':
      return [
        {
          _: 'documentAttributeSticker',
          alt: media.emoji ?? '',
          stickerset: { _: 'inputStickerSetEmpty' },
        },
        { _: 'documentAttributeImageSize', w: w || 512, h: h || 512 },
      ]
    default:
      return []
  }
}

export function locationOf(content: Extract<Content, { kind: 'location' }>): tl.TypeInputMedia {
  const { latitude: lat, longitude: long, accuracy, liveSeconds, heading, alertDistance } = content
  const geoPoint: tl.RawInputGeoPoint = {
    _: 'inputGeoPoint',
    lat,
    long,
    ...(accuracy !== undefined && { accuracyRadius: Math.round(accuracy) }),
  }
  if (content.venue) {
    const { title, address, googleId, googleType, foursquareId, foursquareType } = content.venue
    return {
      _: 'inputMediaVenue',
      geoPoint,
      title,
      address,
      provider: googleId === undefined ? 'foursquare' : 'gplaces',
      venueId: googleId ?? foursquareId ?? '',
      venueType: googleType ?? foursquareType ?? '',
    }
  }
  if (liveSeconds === undefined) return { _: 'inputMediaGeoPoint', geoPoint }
  return {
    _: 'inputMediaGeoLive',
    geoPoint,
    period: liveSeconds,
    ...(heading !== undefined && { heading }),
    ...(alertDistance !== undefined && { proximityNotificationRadius: alertDistance }),
  }
}

interface Shown {
  readonly noWebpage?: true
  readonly invertMedia?: true
  /** Present when the sender chooses the page or the size of the preview. */
  readonly media?: tl.RawInputMediaWebPage
}

export function previewOf(content: Content & { readonly kind: 'text' }): Shown {
  const { isOff, url, size, isAbove } = content.preview ?? {}
  if (isOff) return { noWebpage: true }
  const page = url ?? (size && firstLink(content))
  return {
    ...(isAbove && { invertMedia: true }),
    ...(page !== undefined && {
      media: {
        _: 'inputMediaWebPage',
        url: page,
        // If the page has no preview, the text is sent without one.
        optional: true,
        ...(size === 'large' && { forceLargeMedia: true }),
        ...(size === 'small' && { forceSmallMedia: true }),
      },
    }),
  }
}

function firstLink({ text, entities }: Text): string | undefined {
  const [first] = entities
    .filter(({ type }) => type === 'url' || type === 'text_link')
    .sort((one, other) => one.offset - other.offset)
  return first && (first.url ?? text.slice(first.offset, first.offset + first.length))
}
