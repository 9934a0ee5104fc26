/** What a message of the reference carries. */
import type { Content, Location, Preview, Service } from '../../../../machines/model/content.ts'
import {
  array,
  type Fields,
  fields,
  Malformed,
  maybe,
  maybeText,
  native,
  number,
  present,
  text,
} from './fields.ts'
import { mediaIn, photoOf } from './media.ts'
import { personOf } from './people.ts'
import { pollOf } from './poll.ts'
import { textOf } from './text.ts'
import { topicFactOf } from './topic.ts'

export function contentOf(message: Fields): Content {
  if (typeof message.text === 'string') {
    return present({
      kind: 'text' as const,
      ...textOf(message, 'text', 'entities'),
      preview: maybe(message.link_preview_options, previewOf),
    })
  }
  const media = mediaIn(message)
  if (media) {
    return present({
      kind: 'media' as const,
      media,
      caption: textOf(message, 'caption', 'caption_entities'),
      captionAbove: message.show_caption_above_media === true ? true : undefined,
      spoiler: message.has_media_spoiler === true ? true : undefined,
    })
  }
  return (
    structuredOf(message) ?? serviceOf(message) ?? { kind: 'unsupported', label: labelOf(message) }
  )
}

function previewOf(value: unknown): Preview {
  const options = fields(value)
  const isChosen = (name: string) => (options[name] === true ? true : undefined)
  const small = isChosen('prefer_small_media') && ('small' as const)
  return present({
    isOff: isChosen('is_disabled'),
    url: maybeText(options.url),
    size: isChosen('prefer_large_media') ? ('large' as const) : small,
    isAbove: isChosen('show_above_text'),
  })
}

function structuredOf(message: Fields): Content | undefined {
  const { venue, location, contact, poll, dice } = message
  // A venue comes with its location beside it.
  if (venue !== undefined) return venueOf(fields(venue))
  if (location !== undefined) return { kind: 'location', ...locationOf(location) }
  if (contact !== undefined) return contactOf(fields(contact))
  if (poll !== undefined) return { kind: 'poll', poll: pollOf(poll) }
  if (dice === undefined) return undefined
  const { emoji, value } = fields(dice)
  return { kind: 'dice', emoji: text(emoji), value: number(value) ?? 0 }
}

function venueOf(venue: Fields): Content {
  return {
    kind: 'location',
    ...locationOf(venue.location),
    venue: present({
      title: maybeText(venue.title) ?? '',
      address: maybeText(venue.address) ?? '',
      foursquareId: maybeText(venue.foursquare_id),
      foursquareType: maybeText(venue.foursquare_type),
      googleId: maybeText(venue.google_place_id),
      googleType: maybeText(venue.google_place_type),
    }),
  }
}

function locationOf(value: unknown): Location {
  const place = fields(value)
  const [latitude, longitude] = [number(place.latitude), number(place.longitude)]
  if (latitude === undefined || longitude === undefined) throw new Malformed('a place is nowhere')
  return present({
    latitude,
    longitude,
    accuracy: number(place.horizontal_accuracy),
    liveSeconds: number(place.live_period),
    heading: number(place.heading),
    alertDistance: number(place.proximity_alert_radius),
  })
}

const contactOf = (contact: Fields): Content =>
  present({
    kind: 'contact' as const,
    phone: text(contact.phone_number),
    firstName: maybeText(contact.first_name) ?? '',
    lastName: maybeText(contact.last_name),
    vcard: maybeText(contact.vcard),
    person: maybe(contact.user_id, native),
  })

const CREATED = ['group_chat_created', 'supergroup_chat_created', 'channel_chat_created']

function serviceOf(message: Fields): Content | undefined {
  const fact = factOf(message)
  return fact && { kind: 'service', ...fact }
}

function factOf(message: Fields): Service | undefined {
  const { new_chat_members, new_chat_member, left_chat_member, new_chat_title } = message
  if (new_chat_members !== undefined) {
    return { fact: 'joined', people: array(new_chat_members, personOf) }
  }
  if (new_chat_member !== undefined) return { fact: 'joined', people: [personOf(new_chat_member)] }
  if (left_chat_member !== undefined) return { fact: 'left', person: personOf(left_chat_member) }
  if (new_chat_title !== undefined) return { fact: 'title', title: text(new_chat_title) }
  if (message.new_chat_photo !== undefined) {
    return { fact: 'photo', photo: photoOf(message.new_chat_photo) }
  }
  if (message.delete_chat_photo === true) return { fact: 'photo', photo: undefined }
  if (CREATED.some((name) => message[name] === true)) {
    return { fact: 'created', title: maybeText(fields(message.chat).title) ?? '' }
  }
  const { migrate_to_chat_id, migrate_from_chat_id } = message
  if (migrate_to_chat_id !== undefined) {
    return { fact: 'moved_to', chat: native(migrate_to_chat_id) }
  }
  if (migrate_from_chat_id !== undefined) {
    return { fact: 'moved_from', chat: native(migrate_from_chat_id) }
  }
  if (message.pinned_message === undefined) return topicFactOf(message)
  return { fact: 'pinned', message: native(fields(message.pinned_message).message_id) }
}

const AROUND = [
  'message_id',
  'from',
  'chat',
  'date',
  'sender_chat',
  'reply_markup',
  'message_thread_id',
  'is_topic_message',
]

/** What the message carries, in the reference's own word. */
const labelOf = (message: Fields): string =>
  Object.keys(message).find((name) => !AROUND.includes(name)) ?? 'nothing'
