/** The messenger's records as answers of the routes under /sandbox. */
import type { Static } from 'typebox'
import type { Button, Buttons } from '../../../machines/model/buttons.ts'
import type { Chat, Content, ExternalReply, Message } from '../../../machines/model/content.ts'
import type { Game } from '../../../machines/model/game.ts'
import type { Location, Venue } from '../../../machines/model/location.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { Invoice, PaidMedia, PaidPreview } from '../../../machines/model/payment.ts'
import type { Person } from '../../../machines/model/person.ts'
import type { Checklist, Poll, PollMedia } from '../../../machines/model/poll.ts'
import type { RichBlock, RichMessage } from '../../../machines/model/rich.ts'
import type { Quote, Text, TextEntity } from '../../../machines/model/text.ts'
import type { TopicLook } from '../../../machines/model/topic.ts'
import { buttonsWithin, renderRich } from '../../bot-api/rich/render.ts'
import type {
  PaidMediaBody,
  PollBody,
  RichBlockBody,
  RichBody,
  ShownMedia,
} from './content-schemas.ts'
import type * as keyboards from './keyboard-schemas.ts'
import type * as wire from './schemas.ts'

/** Leaves out undefined fields. */
export const present = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }

export const entityBody = ({
  customEmojiId,
  person,
  unixTime,
  timeFormat,
  ...entity
}: TextEntity): Static<typeof wire.Entity> => ({
  ...entity,
  ...present({
    custom_emoji_id: customEmojiId,
    user_id: person === undefined ? null : Number(person),
    unix_time: unixTime,
    date_time_format: timeFormat,
  }),
})

export const keyboardBody = (buttons: Buttons): Static<typeof keyboards.ShownKeyboard> =>
  buttons.map((row) => row.map((button) => ({ text: button.text, ...effectBody(button) })))

/** The action of a button, and its look. */
function effectBody(button: Button): object {
  const { style, icon } = button.look ?? {}
  const look = present({ style, icon_custom_emoji_id: icon })
  if ('url' in button) return { ...look, url: button.url }
  return { ...look, ...('data' in button ? { callback_data: button.data } : button.action) }
}

export const nameBody = (person: Person) => ({
  id: Number(person.native),
  first_name: person.firstName,
  ...present({ last_name: person.lastName, username: person.username }),
})

export const chatBody = (chat: Chat) => ({
  id: Number(chat.native),
  type: chat.surface,
  ...present({
    title: chat.title,
    first_name: chat.firstName,
    last_name: chat.lastName,
    username: chat.username,
    description: chat.description,
    is_forum: chat.isForum,
    direct_with: chat.directWith && nameBody(chat.directWith),
  }),
})

export function messageBody(message: Message) {
  return {
    message_id: Number(message.native),
    chat: chatBody(message.chat),
    date: message.at,
    ...present({
      from: message.from && nameBody(message.from),
      sender_chat: message.fromChat && chatBody(message.fromChat),
      edit_date: message.editedAt,
      media_group_id: message.album,
      has_protected_content: message.isProtected,
      effect_id: message.effect,
      message_thread_id: message.topic && Number(message.topic.native),
      reply_to_message_id: message.replyTo && Number(message.replyTo.native),
      receiver: message.ephemeral && nameBody(message.ephemeral.receiver),
      ephemeral_message_id: message.ephemeral && Number(message.ephemeral.id),
      replaces_message_id: replacedId(message),
      quote: message.quote && quoteBody(message.quote),
      external_reply: message.externalReply && externalReplyBody(message.externalReply),
      via_bot: message.via && nameBody(message.via),
      guest_caller: message.guestCaller && nameBody(message.guestCaller),
      suggestion: message.suggestion && {
        state: message.suggestion.state,
        ...present({
          star_count: message.suggestion.price?.amount,
          send_date: message.suggestion.sendAt,
        }),
      },
      forwarded_from: message.forward && originName(message.forward),
      inline_keyboard: keyboardOf(message),
    }),
    ...contentBody(message.content),
  }
}

const replacedId = ({ ephemeral }: Message) =>
  ephemeral?.replaces === undefined ? undefined : Number(ephemeral.replaces)

/** The buttons below a message, and those within a rich one. */
function keyboardOf({ buttons = [], content }: Message) {
  const within = content.kind === 'rich' ? buttonsWithin(content.blocks) : []
  const rows = within.map(({ text, url, callback_data: data }) => [
    { text, ...(url !== undefined && { url }), ...(data !== undefined && { callback_data: data }) },
  ])
  const all = [...rows, ...keyboardBody(buttons)]
  return all.length > 0 ? all : undefined
}

const quoteBody = ({ text, entities, position }: Quote) => ({
  text,
  ...entitiesBody('entities', entities),
  position,
})

const externalReplyBody = ({ origin, chat, message, content }: ExternalReply) => ({
  from: originName(origin),
  ...(chat && { chat: chatBody(chat) }),
  ...(message !== undefined && { message_id: Number(message) }),
  ...contentBody(content),
})

function originName(origin: NonNullable<Message['forward']>): string {
  if (origin.from === 'person') return origin.person.firstName
  return origin.from === 'hidden' ? origin.name : (origin.chat.title ?? '')
}

export function contentBody(content: Content): object {
  switch (content.kind) {
    case 'text':
      return { text: content.text, ...entitiesBody('entities', content.entities) }
    case 'media':
      return {
        media: { ...mediaBody(content.media), ...present({ has_spoiler: content.spoiler }) },
        ...captionBody(content.caption),
      }
    case 'paid_media':
      return { paid_media: paidBody(content.paid), ...captionBody(content.caption) }
    case 'location':
      return placeBody(content)
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
    case 'invoice':
      return { invoice: invoiceBody(content.invoice) }
    case 'game':
      return { game: gameBody(content.game) }
    case 'dice':
      return { dice: { emoji: content.emoji, value: content.value } }
    case 'service':
      return {
        service: content.fact,
        ...(content.fact === 'photo' && content.photo && { media: mediaBody(content.photo) }),
        ...(content.fact === 'gift' && {
          media: mediaBody(content.gift.gift.sticker),
          ...(content.gift.text.text && { caption: content.gift.text.text }),
        }),
        ...(content.fact === 'topic_created' && { topic: lookBody(content) }),
        ...factDetails(content),
      }
    case 'checklist':
      return { checklist: checklistBody(content.checklist) }
    case 'rich': {
      const { text, entities } = renderRich(content.blocks)
      return { rich: richBody(content), text, ...entitiesBody('entities', entities) }
    }
    case 'story':
    case 'unsupported':
      return {}
  }
}

const gameBody = ({ name, title, description, text, photo }: Game) => ({
  name,
  title,
  description,
  ...present({ text: text?.text, photo: photo && mediaBody(photo) }),
})

const captionBody = ({ text, entities }: Text) => ({
  ...(text && { caption: text }),
  ...entitiesBody('caption_entities', entities),
})

const paidBody = ({ stars, items }: PaidMedia): Static<typeof PaidMediaBody> => ({
  star_count: stars,
  items: items.map((item) =>
    item.kind === 'preview' ? figuresBody(item) : { media: mediaBody(item) },
  ),
})

const richBody = ({ blocks, isRtl }: RichMessage): Static<typeof RichBody> => ({
  blocks: blocks.map(blockBody),
  ...(isRtl && { is_rtl: true }),
})

const blockBody = ({ media, blocks, items, ...block }: RichBlock): RichBlockBody => ({
  ...block,
  ...(media && { media: mediaBody(media) }),
  ...(blocks && { blocks: blocks.map(blockBody) }),
  ...(items && { items: items.map((item) => ({ ...item, blocks: item.blocks.map(blockBody) })) }),
})

export const invoiceBody = (invoice: Invoice): Static<typeof wire.InvoiceBody> => ({
  title: invoice.title,
  description: invoice.description,
  currency: invoice.currency,
  total_amount: invoice.total,
  prices: [...invoice.prices],
  asks: [...invoice.asks],
  is_flexible: invoice.isFlexible,
  max_tip_amount: invoice.maxTip,
  suggested_tip_amounts: [...invoice.tips],
  ...present({ photo_url: invoice.photoUrl, subscription_period: invoice.periodSeconds }),
})

/** The details of those service messages that have some. */
function factDetails(content: Content & { readonly kind: 'service' }): object {
  switch (content.fact) {
    case 'users_shared': {
      const user_ids = content.people.map(({ native }) => Number(native))
      return { shared: { request_id: content.request, user_ids } }
    }
    case 'chat_shared':
      return { shared: { request_id: content.request, chat_id: Number(content.chat.native) } }
    case 'paid':
    case 'refunded': {
      const { currency, total, charge } = content.receipt
      return { payment: { currency, total_amount: total, charge_id: charge } }
    }
    case 'option_added':
      return { caption: content.text.text }
    case 'post_declined':
      return present({ caption: content.comment })
    case 'community_added':
    case 'community_joined':
      return { caption: content.community.name }
    case 'web_app_data':
      return { web_app_data: { button_text: content.button, data: content.data } }
    default:
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

const figuresBody = ({ width, height, durationSeconds: duration }: Omit<PaidPreview, 'kind'>) =>
  present({ duration, width, height })

export function mediaBody(media: Media): Static<typeof ShownMedia> {
  const file = 'native' in media.file ? media.file.native : media.file.blob
  return {
    type: media.kind,
    file,
    url: `/sandbox/files/${file}`,
    ...present({
      file_name: media.name,
      mime_type: media.mime,
      file_size: media.size,
      title: media.title,
      performer: media.performer,
      emoji: media.emoji,
      set_name: media.setName,
      custom_emoji_id: media.customEmojiId,
      start_timestamp: media.startSeconds,
      cover: media.cover && mediaBody(media.cover),
      live: media.live && mediaBody(media.live),
    }),
    ...figuresBody(media),
  }
}

const checklistBody = (checklist: Checklist) => ({
  title: checklist.title.text,
  tasks: checklist.tasks.map(({ id, text, doneBy }) => ({
    id,
    text: text.text,
    ...(doneBy && { done_by: nameBody(doneBy) }),
  })),
  others_can_add_tasks: checklist.othersMayAdd ?? false,
  others_can_mark_tasks_as_done: checklist.othersMayMark ?? false,
})

const placeBody = ({ venue, ...location }: Location & { readonly venue?: Venue }) =>
  present({
    location: locationBody(location),
    venue: venue && { title: venue.title, address: venue.address },
  })

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

function pollMediaBody(media: PollMedia) {
  switch (media.kind) {
    case 'media':
      return { media: mediaBody(media.media) }
    case 'location':
      return placeBody(media)
    case 'link':
      return { url: media.url }
  }
}

export const pollBody = (poll: Poll): Static<typeof PollBody> => ({
  id: poll.id ?? '',
  question: poll.question.text,
  options: poll.options.map(({ text, media, voters, added }) => ({
    text: text.text,
    ...(media && { media: pollMediaBody(media) }),
    voter_count: voters,
    ...(added && { added_by_user_id: Number(added.by.native) }),
  })),
  total_voter_count: poll.voters,
  is_closed: poll.isClosed,
  is_anonymous: poll.isAnonymous,
  type: poll.isQuiz ? 'quiz' : 'regular',
  allows_multiple_answers: poll.isMultiple,
  allows_revoting: poll.isRevotable ?? !poll.isQuiz,
  allow_adding_options: poll.isOpenToOptions === true,
  shuffle_options: poll.isShuffled === true,
  hide_results_until_closes: poll.hidesResults === true,
  members_only: poll.isForMembers === true,
  ...present({
    country_codes: poll.countries && [...poll.countries],
    description: poll.description?.text,
    media: poll.media && pollMediaBody(poll.media),
    correct_option_ids: poll.right && [...poll.right],
    explanation: poll.explanation?.text,
    explanation_media: poll.explanationMedia && pollMediaBody(poll.explanationMedia),
    close_date: poll.closesAt,
  }),
})
