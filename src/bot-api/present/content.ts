/** Contents of messages in the reference's JSON: media, formatted texts, polls, checklists and rich messages. */

import type { Content, Service } from '../../../machines/model/content.ts'
import type { Game } from '../../../machines/model/game.ts'
import type { Location, Venue } from '../../../machines/model/location.ts'
import type { Media, StickerSet } from '../../../machines/model/media.ts'
import type { PaidItem, PaidMedia } from '../../../machines/model/payment.ts'
import type { Checklist, ChecklistTask, Poll, PollMedia } from '../../../machines/model/poll.ts'
import type { RichBlock, RichListItem, RichMessage } from '../../../machines/model/rich.ts'
import type { Text } from '../../../machines/model/text.ts'
import { endOfName } from '../../media/formats.ts'
import { detectEntities } from '../entities/detect.ts'
import type { MessageEntity } from '../entities/entity.ts'
import { mergeDetected } from '../entities/normalize.ts'
import { type FileKind, uniqueFileId } from '../file-id.ts'
import { float, type Names, present, userJson } from './chat.ts'

/** The entities of the network, and those that every text carries by its words. */
export function entitiesJson(name: string, text: Text, ids: Names): object {
  const merged = mergeDetected(entityJsons(text, ids), detectEntities(text.text))
  return merged.length > 0 ? { [name]: merged } : {}
}

/** The entities of the network alone. */
const entityJsons = ({ entities }: Text, ids: Names): MessageEntity[] =>
  entities.map(({ person, customEmojiId, unixTime, timeFormat, ...entity }) => ({
    ...entity,
    ...(customEmojiId && { custom_emoji_id: customEmojiId }),
    ...(unixTime !== undefined && { unix_time: unixTime }),
    ...(timeFormat && { date_time_format: timeFormat }),
    ...(person && { user: { id: ids.chat(person), is_bot: false, first_name: '' } }),
  })) as MessageEntity[]

/** Polls in the reference's JSON. A poll within a message also shows its description and what belongs to it. */
export const sentPollJson = (poll: Poll, ids: Names): object => ({
  ...pollJson(poll, ids),
  ...(poll.description && {
    description: poll.description.text,
    ...entitiesJson('description_entities', poll.description, ids),
  }),
  ...pollMediaJson('media', poll.media, ids),
})

export function pollJson(poll: Poll, ids: Names): object {
  return {
    id: poll.id ?? '',
    question: poll.question.text,
    ...markedJson('question_entities', poll.question, ids),
    options: poll.options.map(({ text, media, voters, added }, place) => ({
      persistent_id: `${place}`,
      text: text.text,
      ...markedJson('text_entities', text, ids),
      ...pollMediaJson('media', media, ids),
      voter_count: voters,
      ...(added && { added_by_user: userJson(added.by, ids), addition_date: added.at }),
    })),
    total_voter_count: poll.voters,
    is_closed: poll.isClosed,
    is_anonymous: poll.isAnonymous,
    type: poll.isQuiz ? 'quiz' : 'regular',
    allows_multiple_answers: poll.isMultiple,
    allows_revoting: poll.isRevotable ?? !poll.isQuiz,
    members_only: poll.isForMembers === true,
    ...(poll.countries && { country_codes: poll.countries }),
    ...(poll.right && { correct_option_ids: poll.right, correct_option_id: poll.right[0] }),
    ...(poll.explanation && {
      explanation: poll.explanation.text,
      explanation_entities: entityJsons(poll.explanation, ids),
    }),
    ...pollMediaJson('explanation_media', poll.explanationMedia, ids),
    ...(poll.openSeconds &&
      poll.closesAt && { open_period: poll.openSeconds, close_date: poll.closesAt }),
  }
}

function pollMediaJson(name: string, media: PollMedia | undefined, ids: Names): object {
  return media ? { [name]: pollMediaBody(media, ids) } : {}
}

function pollMediaBody(media: PollMedia, ids: Names): object {
  switch (media.kind) {
    case 'link':
      return { link: { url: media.url } }
    case 'location': {
      const location = locationJson(media)
      return media.venue ? { venue: venueJson(location, media.venue) } : { location }
    }
    case 'media':
      return fileAloneJson(media.media, ids)
  }
}

export const locationJson = (location: Location) =>
  present({
    latitude: float(location.latitude),
    longitude: float(location.longitude),
    horizontal_accuracy: location.accuracy === undefined ? undefined : float(location.accuracy),
    live_period: location.liveSeconds,
    heading: location.heading,
    proximity_alert_radius: location.alertDistance,
  })

export const venueJson = (location: object, venue: Venue) =>
  present({
    location,
    title: venue.title,
    address: venue.address,
    foursquare_id: venue.foursquareId,
    foursquare_type: venue.foursquareType,
    google_place_id: venue.googleId,
    google_place_type: venue.googleType,
  })

/** The entities that the author chose, without those that every text carries by its words. */
export function markedJson(name: string, text: Text, ids: Names): object {
  const entities = entityJsons(text, ids)
  return entities.length > 0 ? { [name]: entities } : {}
}

export const mediaJson = (content: Content & { kind: 'media' }, ids: Names): object => ({
  ...memberOf(content.media, ids),
  ...captionJson(content, ids),
  ...(content.spoiler && { has_media_spoiler: true }),
})

export const paidMediaJson = (content: Content & { kind: 'paid_media' }, ids: Names): object => ({
  paid_media: paidJson(content.paid, ids),
  ...captionJson(content, ids),
})

const captionJson = (
  { caption, captionAbove }: Content & { kind: 'media' | 'paid_media' },
  ids: Names,
) => ({
  ...(caption.text && { caption: caption.text }),
  ...entitiesJson('caption_entities', caption, ids),
  ...(captionAbove && { show_caption_above_media: true }),
})

const paidJson = ({ stars, items }: PaidMedia, ids: Names) => ({
  star_count: stars,
  paid_media: items.map((item) => paidItemJson(item, ids)),
})

export function paidItemJson(item: PaidItem, ids: Names): object {
  if (item.kind === 'preview') {
    const { width, height, durationSeconds: duration } = item
    return { type: 'preview', ...present({ width, height, duration }) }
  }
  return { type: typeOf(item), ...fileAloneJson(item, ids) }
}

const typeOf = (media: Media) => (media.live ? 'live_photo' : media.kind)

/** Under the name of its kind alone, without the copies for older clients. */
function fileAloneJson(media: Media, ids: Names): object {
  const type = typeOf(media)
  const shown: Readonly<Record<string, unknown>> = { ...memberOf(media, ids) }
  return { [type]: shown[type] }
}

/** The sizes of a photo, the smallest first. */
export const photoJson = (photo: Media, ids: Names): object[] =>
  [...(photo.sizes ?? []), photo].map((size) => sizeJson(size, ids, 'photo'))

export const audioJson = (audio: Media, ids: Names) => ({
  ...file(audio, ids),
  duration: audio.durationSeconds ?? 0,
  ...present({ performer: audio.performer, title: audio.title }),
  ...named(audio),
  ...thumb(audio, ids),
})

function memberOf(media: Media, ids: Names): object {
  switch (media.kind) {
    case 'photo': {
      const photo = photoJson(media, ids)
      return media.live ? { live_photo: liveJson(media.live, photo, ids), photo } : { photo }
    }
    case 'video':
      return { video: videoJson(media, ids) }
    case 'animation': {
      const animation = { ...framed(media, ids), ...named(media) }
      // A copy of the animation for clients that know only documents.
      return { animation, document: { ...file(media, ids), ...named(media), ...thumb(media, ids) } }
    }
    case 'audio':
      return { audio: audioJson(media, ids) }
    case 'voice': {
      const { file_name: _, ...type } = named(media)
      return { voice: { ...file(media, ids), duration: media.durationSeconds ?? 0, ...type } }
    }
    case 'video_note':
      return {
        video_note: {
          ...file(media, ids),
          length: media.width ?? 0,
          duration: media.durationSeconds ?? 0,
          ...thumb(media, ids),
        },
      }
    case 'document':
      return { document: { ...file(media, ids), ...named(media), ...thumb(media, ids) } }
    case 'sticker':
      return { sticker: stickerJson(media, ids) }
  }
}

const videoJson = (media: Media, ids: Names) => ({
  ...framed(media, ids),
  ...named(media),
  ...present({
    cover: media.cover && photoJson(media.cover, ids),
    start_timestamp: media.startSeconds,
  }),
})

/** The video of a live photo, with the sizes of its still picture. */
const liveJson = (live: Media, photo: readonly object[], ids: Names) => ({
  photo,
  ...file(live, ids),
  width: live.width ?? 0,
  height: live.height ?? 0,
  duration: live.durationSeconds ?? 0,
  ...present({ mime_type: live.mime }),
})

export const stickerJson = (media: Media, ids: Names) => ({
  ...file(media, ids),
  type: media.stickerType ?? 'regular',
  width: media.width ?? 512,
  height: media.height ?? 512,
  is_animated: media.mime === 'application/x-tgsticker',
  is_video: media.mime === 'video/webm',
  ...present({
    emoji: media.emoji,
    set_name: media.setName,
    mask_position: media.mask && {
      point: media.mask.point,
      x_shift: float(media.mask.xShift),
      y_shift: float(media.mask.yShift),
      scale: float(media.mask.scale),
    },
    custom_emoji_id: media.customEmojiId,
    needs_repainting: media.needsRepainting || undefined,
  }),
  ...thumb(media, ids),
})

export const stickerSetJson = (
  { name, title, type = 'regular', stickers, thumbnail }: StickerSet,
  ids: Names,
): object => ({
  name,
  title,
  sticker_type: type,
  contains_masks: type === 'mask',
  stickers: stickers.map((sticker) => stickerJson(sticker, ids)),
  ...thumb({ thumbnail }, ids),
})

const framed = (media: Media, ids: Names) => ({
  ...file(media, ids),
  width: media.width ?? 0,
  height: media.height ?? 0,
  duration: media.durationSeconds ?? 0,
  ...thumb(media, ids),
})

const named = ({ name, mime }: Media): { file_name?: string; mime_type?: string } =>
  present({ file_name: name && plainName(name), mime_type: mime })

/** In bytes, as file systems count. */
const LONGEST_NAME = 255

/** As the sender calls it, but no path: bots save files under these names. For Windows `C:name` is a path, too. */
const plainName = (name: string): string =>
  endOfName(name, LONGEST_NAME).replace(/[/\\\p{Cc}]|(?<=^[a-z]):|^\.{1,2}$/giu, '_')

function thumb({ thumbnail }: { readonly thumbnail?: Media | undefined }, ids: Names): object {
  if (!thumbnail) return {}
  const size = sizeJson(thumbnail, ids, 'thumbnail')
  return { thumbnail: size, thumb: size }
}

export const sizeJson = (media: Media, ids: Names, kind: FileKind) => ({
  ...file(media, ids, kind),
  width: media.width ?? 0,
  height: media.height ?? 0,
})

/** A shown file is on the network already; a blob's name is used only until then. */
export function file(media: Media, ids: Names, kind: FileKind = media.kind) {
  const native = 'native' in media.file ? media.file.native : media.file.blob
  const { unique = native } = media
  return {
    file_id: ids.file({ kind, native, ...(unique !== native && { unique }) }),
    file_unique_id: uniqueFileId(unique),
    ...present({ file_size: media.size }),
  }
}

const taskJson = ({ id, text, doneBy, doneAt }: ChecklistTask, ids: Names) => ({
  id,
  text: text.text,
  ...markedJson('text_entities', text, ids),
  ...present({
    completed_by_user: doneBy && userJson(doneBy, ids),
    completion_date: doneAt,
  }),
})

export const checklistJson = (checklist: Checklist, ids: Names) => ({
  title: checklist.title.text,
  ...markedJson('title_entities', checklist.title, ids),
  tasks: checklist.tasks.map((task) => taskJson(task, ids)),
  ...(checklist.othersMayAdd && { others_can_add_tasks: true }),
  ...(checklist.othersMayMark && { others_can_mark_tasks_as_done: true }),
})

type FactOf<Fact extends Service['fact']> = Extract<Service, { readonly fact: Fact }>
type TaskFact = FactOf<'tasks_done' | 'tasks_added'>

/** `checklist_message`: absent if no client knows its id. */
export function tasksFactJson(
  content: TaskFact,
  checklist_message: object | undefined,
  ids: Names,
): object {
  const about = present({ checklist_message })
  if (content.fact === 'tasks_added') {
    const tasks = content.tasks.map((task) => taskJson(task, ids))
    return { checklist_tasks_added: { ...about, tasks } }
  }
  const { done, undone } = content
  return {
    checklist_tasks_done: {
      ...about,
      ...(done.length > 0 && { marked_as_done_task_ids: done }),
      ...(undone.length > 0 && { marked_as_not_done_task_ids: undone }),
    },
  }
}

/** `poll_message`: absent if no client knows its id. */
export function optionFactJson(
  content: FactOf<'option_added'>,
  poll_message: object | undefined,
  ids: Names,
): object {
  return {
    poll_option_added: {
      ...present({ poll_message }),
      option_persistent_id: `${content.option}`,
      option_text: content.text.text,
      ...markedJson('option_text_entities', content.text, ids),
    },
  }
}

/** The reference requires a picture: without one there is an empty list. */
export const gameJson = (
  { title, description, text, photo, animation }: Game,
  ids: Names,
): object => ({
  title,
  description,
  photo: photo ? photoJson(photo, ids) : [],
  ...(text && { text: text.text, ...entitiesJson('text_entities', text, ids) }),
  ...(animation && fileAloneJson(animation, ids)),
})

export const richJson = ({ blocks, isRtl }: RichMessage, ids: Names): object => ({
  blocks: blocks.map((block) => blockJson(block, ids)),
  ...(isRtl && { is_rtl: true }),
})

function blockJson(block: RichBlock, ids: Names): object {
  const { media, blocks, items, location, ...rest } = block
  return {
    ...rest,
    ...(location && { location: locationJson(location) }),
    ...(media && { [block.type]: fileJson(block.type, media, ids) }),
    ...(blocks && { blocks: blocks.map((one) => blockJson(one, ids)) }),
    ...(items && { items: items.map((item) => itemJson(item, ids)) }),
  }
}

const itemJson = (item: RichListItem, ids: Names) => ({
  ...item,
  blocks: item.blocks.map((block) => blockJson(block, ids)),
})

/** A file stands under the name of its block, as that of a message stands under the name of its kind. */
function fileJson(type: string, media: NonNullable<RichBlock['media']>, ids: Names): unknown {
  const shown: Readonly<Record<string, unknown>> = { ...memberOf(media, ids) }
  return shown[type === 'voice_note' ? 'voice' : type] ?? shown[media.kind]
}
