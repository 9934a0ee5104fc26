/** The method that sends a content, and its parameters. */

import type {
  Content,
  Location,
  Media,
  MediaKind,
  Poll,
} from '../../../../machines/model/content.ts'
import { contentName } from '../../../../machines/model/content-name.ts'
import { failed } from '../../../../machines/model/failure.ts'
import type { Dialect } from '../dialect.ts'
import type { Attachments } from '../multipart.ts'
import { textAs, textMessage } from './text.ts'

interface Sending {
  readonly method: string
  readonly parameters: Readonly<Record<string, unknown>>
}

const methodOf: Readonly<Record<MediaKind, string>> = {
  photo: 'sendPhoto',
  video: 'sendVideo',
  animation: 'sendAnimation',
  audio: 'sendAudio',
  voice: 'sendVoice',
  video_note: 'sendVideoNote',
  document: 'sendDocument',
  sticker: 'sendSticker',
}

/** Throws when the network does not support the content. */
export function sendingOf(content: Content, attachments: Attachments, dialect: Dialect): Sending {
  const name = contentName(content)
  if (!dialect.capabilities.content.some((known) => known === name)) {
    throw failed('bad_request', `${name} is not supported on ${dialect.name}`)
  }
  switch (content.kind) {
    case 'text':
      return { method: 'sendMessage', parameters: textMessage(content, dialect) }
    case 'media': {
      const { kind } = content.media
      const parameters = {
        [kind]: attachments.refer(content.media),
        ...aboutMedia(content, attachments, dialect),
      }
      return { method: methodOf[kind], parameters }
    }
    case 'location':
      return content.venue
        ? { method: 'sendVenue', parameters: venueJson(content, content.venue) }
        : { method: 'sendLocation', parameters: locationJson(content) }
    case 'contact': {
      const { phone, firstName, lastName, vcard } = content
      const parameters = { phone_number: phone, first_name: firstName, last_name: lastName, vcard }
      return { method: 'sendContact', parameters }
    }
    case 'poll':
      return { method: 'sendPoll', parameters: pollJson(content.poll, dialect) }
    case 'dice':
      return { method: 'sendDice', parameters: { emoji: content.emoji } }
    case 'service':
    case 'unsupported':
      throw failed('bad_request', `${name} is not supported on ${dialect.name}`)
  }
}

/** An item of an album, or the new file of a message. */
export function inputMedia(
  content: Content & { readonly kind: 'media' },
  attachments: Attachments,
  dialect: Dialect,
) {
  const { media } = content
  const file = attachments.refer(media)
  return { type: media.kind, media: file, ...aboutMedia(content, attachments, dialect) }
}

function aboutMedia(
  { media, caption, captionAbove, spoiler }: Content & { readonly kind: 'media' },
  attachments: Attachments,
  dialect: Dialect,
) {
  return {
    ...(caption.text !== '' && textAs(caption, 'caption', 'caption_entities', dialect)),
    ...(captionAbove && { show_caption_above_media: true }),
    ...(spoiler && { has_spoiler: true }),
    // The network knows the facts of a file that it has stored.
    ...('blob' in media.file && factsOf(media, attachments)),
  }
}

function factsOf(media: Media, attachments: Attachments) {
  const { kind, durationSeconds, width, height, title, performer, emoji, thumbnail } = media
  return {
    duration: durationSeconds,
    ...(kind === 'video_note' ? { length: width } : kind !== 'photo' && { width, height }),
    title,
    performer,
    ...(kind === 'sticker' && { emoji }),
    ...(thumbnail && takesThumbnail(kind) && { thumbnail: attachments.refer(thumbnail) }),
  }
}

const takesThumbnail = (kind: MediaKind) => !['photo', 'voice', 'sticker'].includes(kind)

export const locationJson = (location: Location) => ({
  latitude: location.latitude,
  longitude: location.longitude,
  horizontal_accuracy: location.accuracy,
  live_period: location.liveSeconds,
  heading: location.heading,
  proximity_alert_radius: location.alertDistance,
})

const venueJson = (
  { latitude, longitude }: Location,
  venue: NonNullable<(Content & { kind: 'location' })['venue']>,
) => ({
  latitude,
  longitude,
  title: venue.title,
  address: venue.address,
  foursquare_id: venue.foursquareId,
  foursquare_type: venue.foursquareType,
  google_place_id: venue.googleId,
  google_place_type: venue.googleType,
})

const pollJson = (poll: Poll, dialect: Dialect) => ({
  ...textAs(poll.question, 'question', 'question_entities', dialect),
  options: poll.options.map(({ text }) => textAs(text, 'text', 'text_entities', dialect)),
  is_anonymous: poll.isAnonymous,
  type: poll.isQuiz ? 'quiz' : 'regular',
  allows_multiple_answers: poll.isMultiple,
  is_closed: poll.isClosed,
  // Before its version 9.6 the reference knew one right option only.
  ...(poll.right && { correct_option_ids: poll.right, correct_option_id: poll.right[0] }),
  ...(poll.explanation && textAs(poll.explanation, 'explanation', 'explanation_entities', dialect)),
  open_period: poll.openSeconds,
  close_date: poll.closesAt,
})
