/** What messages carry, as the routes of the sandbox show it. */
import type { Static } from 'typebox'
import type {
  Content,
  Location,
  Media,
  Poll,
  Reaction,
  TopicLook,
} from '../../../machines/model/content.ts'
import type * as wire from './content-schemas.ts'
import { entityBody, present } from './wire.ts'

export function contentBody(content: Content): object {
  switch (content.kind) {
    case 'text':
      return { text: content.text, ...entitiesBody('entities', content.entities) }
    case 'media': {
      const { media, caption, spoiler } = content
      return {
        media: { ...mediaBody(media), ...present({ has_spoiler: spoiler }) },
        ...(caption.text && { caption: caption.text }),
        ...entitiesBody('caption_entities', caption.entities),
      }
    }
    case 'location':
      return present({
        location: locationBody(content),
        venue: content.venue && { title: content.venue.title, address: content.venue.address },
      })
    case 'contact':
      return {
        contact: {
          phone_number: content.phone,
          first_name: content.firstName,
          ...present({
            last_name: content.lastName,
            vcard: content.vcard,
            user_id: content.person === undefined ? undefined : Number(content.person),
          }),
        },
      }
    case 'poll':
      return { poll: pollBody(content.poll) }
    case 'dice':
      return { dice: { emoji: content.emoji, value: content.value } }
    case 'service':
      return {
        service: content.fact,
        ...(content.fact === 'photo' && content.photo && { media: mediaBody(content.photo) }),
        ...(content.fact === 'topic_created' && { topic: lookBody(content) }),
      }
    case 'unsupported':
      return {}
  }
}

const entitiesBody = (name: string, entities: readonly Parameters<typeof entityBody>[0][]) =>
  entities.length > 0 ? { [name]: entities.map(entityBody) } : {}

export const lookBody = ({ name, iconColor, icon }: TopicLook) => ({
  name,
  icon_color: iconColor,
  ...present({ icon_custom_emoji_id: icon }),
})

export function mediaBody(media: Media): Static<typeof wire.ShownMedia> {
  const file = 'native' in media.file ? media.file.native : media.file.blob
  return {
    type: media.kind,
    file,
    url: `/sandbox/files/${file}`,
    ...present({
      file_name: media.name,
      mime_type: media.mime,
      file_size: media.size,
      duration: media.durationSeconds,
      width: media.width,
      height: media.height,
      title: media.title,
      performer: media.performer,
      emoji: media.emoji,
      set_name: media.setName,
    }),
  }
}

const locationBody = (location: Location) => ({
  latitude: location.latitude,
  longitude: location.longitude,
  ...present({
    horizontal_accuracy: location.accuracy,
    live_period: location.liveSeconds,
    heading: location.heading,
    proximity_alert_radius: location.alertDistance,
  }),
})

export const pollBody = (poll: Poll): Static<typeof wire.PollBody> => ({
  id: poll.id ?? '',
  question: poll.question.text,
  options: poll.options.map(({ text, voters }) => ({ text: text.text, voter_count: voters })),
  total_voter_count: poll.voters,
  is_closed: poll.isClosed,
  is_anonymous: poll.isAnonymous,
  type: poll.isQuiz ? 'quiz' : 'regular',
  allows_multiple_answers: poll.isMultiple,
  ...present({
    correct_option_ids: poll.right && [...poll.right],
    explanation: poll.explanation?.text,
    close_date: poll.closesAt,
  }),
})

export const reactionBody = (reaction: Reaction): Static<typeof wire.ReactionBody> =>
  'emoji' in reaction ? { emoji: reaction.emoji } : { custom_emoji_id: reaction.customEmojiId }
