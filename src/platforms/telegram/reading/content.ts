/** Reads the content of a message into neutral terms. */
import type { tl } from '@mtcute/node'
import type { Checklist, ChecklistTask } from '../../../../machines/model/checklist.ts'
import type { Content } from '../../../../machines/model/content.ts'
import type { Location } from '../../../../machines/model/location.ts'
import type { Media } from '../../../../machines/model/media.ts'
import type { Preview } from '../../../../machines/model/text.ts'
import { textOf } from '../entities.ts'
import { documentOf, photoOf, type Shown } from './media.ts'
import { chatOf, type View, writerOf } from './peers.ts'
import { formatted, pollOf } from './polls.ts'

export function contentOf(message: tl.RawMessage, shown: Shown, view: View): Content {
  const { media } = message
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
      return carried(documentOf(media.document, shown), message, media.spoiler)
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
      return { kind: 'poll', poll: pollOf(media.poll, media.results) }
    case 'messageMediaToDo':
      return { kind: 'checklist', checklist: checklistOf(media, message, view) }
    case 'messageMediaDice':
      return { kind: 'dice', emoji: media.emoticon, value: media.value }
    default:
      return undefined
  }
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
  { message, entities, invertMedia }: tl.RawMessage,
  spoiler = false,
): Content | undefined {
  return (
    media && {
      kind: 'media',
      media,
      caption: textOf(message, entities),
      ...(invertMedia && { captionAbove: true }),
      ...(spoiler && { spoiler }),
    }
  )
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
