/** Reads the content of a message into neutral terms. */
import type { tl } from '@mtcute/node'
import type { Content } from '../../../../machines/model/content.ts'
import type { Location } from '../../../../machines/model/location.ts'
import type { Media } from '../../../../machines/model/media.ts'
import type { Invoice, PaidItem, PaidMedia } from '../../../../machines/model/payment.ts'
import type { Checklist, ChecklistTask, PollMedia } from '../../../../machines/model/poll.ts'
import type { Preview } from '../../../../machines/model/text.ts'
import { textOf } from '../entities.ts'
import { documentOf, photoOf, possible, type Shown } from './media.ts'
import { chatOf, type View, writerOf } from './peers.ts'
import { formatted, pollOf } from './polls.ts'
import { richOf } from './rich.ts'

export function contentOf(message: tl.RawMessage, shown: Shown, view: View): Content {
  const { media, richMessage } = message
  if (richMessage) return { kind: 'rich', ...richOf(richMessage, shown, view) }
  const text: Content = {
    kind: 'text',
    ...textOf(message.message, message.entities),
    ...previewOf(message),
  }
  if (!media) return text
  const found = mediaContentOf(media, message, shown, view)
  if (found) return found
  // Beside a preview of a page, or of what the bot API has no word for, the text stands alone.
  return message.message === '' ? { kind: 'unsupported', label: media._ } : text
}

/** Only the formatting that the writer has chosen. */
function previewOf({ media, invertMedia }: tl.RawMessage): { readonly preview?: Preview } {
  if (media?._ !== 'messageMediaWebPage') return {}
  const { webpage, manual, forceLargeMedia, forceSmallMedia } = media
  const url = manual && 'url' in webpage && webpage.url
  const size = forceLargeMedia ? 'large' : forceSmallMedia && 'small'
  if (!url && !size && !invertMedia) return {}
  const isAbove = invertMedia && { isAbove: true }
  return { preview: { ...(url && { url }), ...(size && { size }), ...isAbove } }
}

function mediaContentOf(
  media: tl.TypeMessageMedia,
  message: tl.RawMessage,
  shown: Shown,
  view: View,
): Content | undefined {
  switch (media._) {
    case 'messageMediaPhoto':
      return carried(pictureOf(media, shown), message, media.spoiler)
    case 'messageMediaDocument':
      return carried(filmOf(media, shown), message, media.spoiler)
    case 'messageMediaGeo':
    case 'messageMediaGeoLive': {
      const location = locationOf(media)
      return location && { kind: 'location', ...location }
    }
    case 'messageMediaVenue':
      return venueOf(media)
    case 'messageMediaContact':
      return {
        kind: 'contact',
        phone: media.phoneNumber,
        firstName: media.firstName,
        ...(media.lastName && { lastName: media.lastName }),
        ...(media.vcard && { vcard: media.vcard }),
        ...(media.userId > 0 && { person: `${media.userId}` }),
      }
    case 'messageMediaPoll':
      return {
        kind: 'poll',
        poll: pollOf(media, (beside) => pollMediaOf(beside, message, shown, view)),
      }
    case 'messageMediaToDo':
      return { kind: 'checklist', checklist: checklistOf(media, message, view) }
    case 'messageMediaDice':
      return { kind: 'dice', emoji: media.emoticon, value: media.value }
    case 'messageMediaGame':
      return gameOf(media.game, message, shown)
    case 'messageMediaInvoice':
      return { kind: 'invoice', invoice: invoiceOf(media) }
    case 'messageMediaPaidMedia':
      return { kind: 'paid_media', paid: paidOf(media, shown), ...captionOf(message) }
    case 'messageMediaStory':
      return { kind: 'story', chat: chatOf(media.peer, view), story: media.id }
    default:
      return undefined
  }
}

function pollMediaOf(
  media: tl.TypeMessageMedia,
  message: tl.RawMessage,
  shown: Shown,
  view: View,
): PollMedia | undefined {
  if (media._ === 'messageMediaWebPage') {
    const url = 'url' in media.webpage ? media.webpage.url : undefined
    return url === undefined ? undefined : { kind: 'link', url }
  }
  const content = mediaContentOf(media, message, shown, view)
  if (content?.kind === 'media') return { kind: 'media', media: content.media }
  return content?.kind === 'location' ? content : undefined
}

function checklistOf(
  { todo, completions = [] }: tl.RawMessageMediaToDo,
  { peerId }: tl.RawMessage,
  view: View,
): Checklist {
  const chat = chatOf(peerId, view)
  return {
    title: formatted(todo.title),
    tasks: todo.list.map((item) => {
      const done = completions.find(({ id }) => id === item.id)
      const by = done && writerOf(done.completedBy, chat, view)
      return { ...taskOf(item), ...(done && { doneAt: done.date }), ...(by && { doneBy: by }) }
    }),
    ...(todo.othersCanAppend && { othersMayAdd: true }),
    ...(todo.othersCanComplete && { othersMayMark: true }),
  }
}

export const taskOf = ({ id, title }: tl.TypeTodoItem): ChecklistTask => ({
  id,
  text: formatted(title),
})

/** With its film where it is a live photo. */
function pictureOf({ photo, video }: tl.RawMessageMediaPhoto, shown: Shown): Media | undefined {
  const [still, live] = [photoOf(photo, shown), documentOf(video, shown)]
  return still && live ? { ...still, live } : still
}

function carried(
  media: Media | undefined,
  message: tl.RawMessage,
  spoiler = false,
): Content | undefined {
  return media && { kind: 'media', media, ...captionOf(message), ...(spoiler && { spoiler }) }
}

/** A file; a video with what the message says of it. */
function filmOf(
  { document, videoCover, videoTimestamp }: tl.RawMessageMediaDocument,
  shown: Shown,
): Media | undefined {
  const media = documentOf(document, shown)
  const cover = photoOf(videoCover, shown)
  return (
    media && {
      ...media,
      ...(cover && { cover }),
      ...possible({ startSeconds: videoTimestamp }),
    }
  )
}

const captionOf = ({ message, entities, invertMedia }: tl.RawMessage) => ({
  caption: textOf(message, entities),
  ...(invertMedia && { captionAbove: true }),
})

/** The scores, or what the bot has written, stand in the text of the message. */
function gameOf(
  { shortName: name, title, description, photo, document }: tl.TypeGame,
  { message, entities }: tl.RawMessage,
  shown: Shown,
): Content {
  const [picture, animation] = [photoOf(photo, shown), documentOf(document, shown)]
  return {
    kind: 'game',
    game: {
      ...{ name, title, description },
      ...(message && { text: textOf(message, entities) }),
      ...(picture && { photo: picture }),
      // A film with sound is a game's animation, too.
      ...(animation && { animation: { ...animation, kind: 'animation' as const } }),
    },
  }
}

/** An invoice as readers see it: only its bot knows the prices, and which data it asks for. */
const invoiceOf = (media: tl.RawMessageMediaInvoice): Invoice => ({
  title: media.title,
  description: media.description,
  payload: '',
  currency: media.currency,
  prices: [],
  total: Number(media.totalAmount),
  ...(media.startParam && { start: media.startParam }),
  ...(media.photo && { photoUrl: media.photo.url }),
  asks: media.shippingAddressRequested ? ['shipping_address'] : [],
  isFlexible: false,
  maxTip: 0,
  tips: [],
})

/** Files that were paid for, and the outlines of the others. */
const paidOf = (
  { starsAmount, extendedMedia }: tl.RawMessageMediaPaidMedia,
  shown: Shown,
): PaidMedia => ({
  stars: Number(starsAmount),
  items: extendedMedia.map((item) => {
    if (item._ === 'messageExtendedMedia') return boughtOf(item.media, shown)
    const { w: width, h: height, videoDuration: durationSeconds } = item
    return { kind: 'preview', ...possible({ width, height, durationSeconds }) }
  }),
})

function boughtOf(media: tl.TypeMessageMedia, shown: Shown): PaidItem {
  const file =
    media._ === 'messageMediaPhoto'
      ? pictureOf(media, shown)
      : media._ === 'messageMediaDocument' && filmOf(media, shown)
  return file || { kind: 'preview' }
}

function locationOf(
  media: tl.RawMessageMediaGeo | tl.RawMessageMediaGeoLive,
): Location | undefined {
  const { geo } = media
  if (geo._ !== 'geoPoint') return undefined
  const live = media._ === 'messageMediaGeoLive' ? media : undefined
  return {
    latitude: geo.lat,
    longitude: geo.long,
    ...(geo.accuracyRadius !== undefined && { accuracy: geo.accuracyRadius }),
    ...(live && { liveSeconds: live.period }),
    ...(live?.heading !== undefined && { heading: live.heading }),
    ...(live?.proximityNotificationRadius !== undefined && {
      alertDistance: live.proximityNotificationRadius,
    }),
  }
}

function venueOf(media: tl.RawMessageMediaVenue): Content | undefined {
  const { geo, title, address, provider, venueId, venueType } = media
  if (geo._ !== 'geoPoint') return undefined
  const named = {
    gplaces: { googleId: venueId, googleType: venueType },
    foursquare: { foursquareId: venueId, foursquareType: venueType },
  }
  const venue = { title, address, ...(venueId && named[provider as keyof typeof named]) }
  return { kind: 'location', latitude: geo.lat, longitude: geo.long, venue }
}
