/** Messages in the reference's JSON. */
import type { Button, Buttons } from '../../../machines/model/buttons.ts'
import type {
  Chat,
  Content,
  ExternalReply,
  Message,
  Origin,
} from '../../../machines/model/content.ts'
import type { PostFact } from '../../../machines/model/payment.ts'
import type { Person } from '../../../machines/model/person.ts'
import type { Preview, Quote, Text } from '../../../machines/model/text.ts'
import type { Topic, TopicLook } from '../../../machines/model/topic.ts'
import {
  chatJson,
  chatSharedJson,
  communityFactJson,
  memberFactJson,
  type Names,
  present,
  userJson,
  usersSharedJson,
} from './chat.ts'
import {
  checklistJson,
  entitiesJson,
  gameJson,
  locationJson,
  markedJson,
  mediaJson,
  optionFactJson,
  paidMediaJson,
  photoJson,
  richJson,
  sentPollJson,
  tasksFactJson,
  venueJson,
} from './content.ts'
import { giftInfoJson, invoiceJson, postFactJson, receiptJson, suggestionJson } from './payment.ts'

/** Whether there is a page that a preview could show: a bare domain is a link without one. */
const linksToPage = ({ text, entities }: Text): boolean =>
  entities.some(({ type, offset, length, url = '' }) => {
    const link = type === 'url' ? text.slice(offset, offset + length) : url
    return /[/?#]/.test(link) && !/^(?:tg|ton|tonsite|ftp):/i.test(link)
  })

/** The link preview in the reference's JSON: that it is off is only shown where there would be one. */
const previewJson = ({ preview, ...text }: Text & { readonly preview?: Preview }) =>
  preview &&
  (!preview.isOff || linksToPage(text)) && {
    link_preview_options: present({
      is_disabled: preview.isOff,
      url: preview.url,
      prefer_small_media: preview.size === 'small' || undefined,
      prefer_large_media: preview.size === 'large' || undefined,
      show_above_text: preview.isAbove,
    }),
  }

/** Topics of forums in the reference's JSON. */
const topicLookJson = ({ name, iconColor, icon }: TopicLook) =>
  present({ name, icon_color: iconColor, icon_custom_emoji_id: icon })

export const topicJson = (chat: string, topic: Topic, ids: Names): object => ({
  message_thread_id: ids.message(chat, topic.native),
  ...topicLookJson(topic),
})

/** The topic of a message; empty if no client has seen the topic. */
function threadJson(chat: string, topic: string, ids: Names): object {
  const message_thread_id = ids.message(chat, topic)
  return message_thread_id === undefined ? {} : { message_thread_id, is_topic_message: true }
}

const directJson = (person: Person, ids: Names) => ({
  direct_messages_topic: { topic_id: ids.chat(person.native), user: userJson(person, ids) },
})

/** Undefined where the bot API has no word for what the message carries. */
export const messageJson = (message: Message, ids: Names): object | undefined =>
  shownJson(message, replyJson(message, ids), ids)

function shownJson(message: Message, answered: object | undefined, ids: Names): object | undefined {
  const content = contentJson(message.content, message.chat, ids)
  if (!content) return undefined
  const chat = chatJson(message.chat, ids)
  const isPost = message.chat.surface === 'channel'
  return {
    message_id: ids.message(message.chat.native, message.native),
    ...present({
      from: message.from && !isPost ? userJson(message.from, ids) : undefined,
      sender_chat: isPost ? chat : message.fromChat && chatJson(message.fromChat, ids),
      author_signature: message.signature,
      sender_tag: message.senderTag,
    }),
    chat,
    date: message.at,
    ...(message.chat.directWith && directJson(message.chat.directWith, ids)),
    ...(message.topic && threadJson(message.chat.native, message.topic.native, ids)),
    ...present({
      edit_date: message.editedAt,
      receiver_user: message.ephemeral && userJson(message.ephemeral.receiver, ids),
      ephemeral_message_id: message.ephemeral && Number(message.ephemeral.id),
      media_group_id: message.album,
      business_connection_id: message.business,
      has_protected_content: message.isProtected || undefined,
      effect_id: message.effect,
      suggested_post_info: message.suggestion && suggestionJson(message.suggestion),
      is_paid_post: message.isPaidPost,
      reply_to_message: answered,
      quote: message.quote && quoteJson(message.quote, ids),
      reply_to_checklist_task_id: message.answeredTask,
      external_reply: message.externalReply && externalReplyJson(message.externalReply, ids),
      sender_business_bot: message.sentBy && userJson(message.sentBy, ids),
      via_bot: message.via && userJson(message.via, ids),
      guest_bot_caller_user: message.guestCaller && userJson(message.guestCaller, ids),
    }),
    ...(message.forward && forwardJson(message.forward, ids)),
    ...content,
    ...(message.buttons?.length && { reply_markup: keyboardJson(message.buttons) }),
  }
}

/** The fields that remain of a message whose content the bot API cannot express. */
export const bareMessageJson = (
  { chat, native }: Pick<Message, 'chat' | 'native'>,
  ids: Names,
): object => ({
  message_id: ids.message(chat.native, native),
  chat: chatJson(chat, ids),
  date: 0,
})

/** A message in a topic that answers no other message is shown as an answer to the topic's first message. */
function replyJson(
  { chat, native, topic, replyTo = topic }: Message,
  ids: Names,
): object | undefined {
  if (!replyTo || replyTo.native === native) return undefined
  if (ids.message(chat.native, replyTo.native) === undefined) return undefined
  // One level only: the answered message does not show what it answers itself.
  if (replyTo.message) return shownJson(replyTo.message, undefined, ids)
  return {
    message_id: ids.message(chat.native, replyTo.native),
    chat: chatJson(chat, ids),
    date: 0,
  }
}

const quoteJson = (quote: Quote, ids: Names) => ({
  text: quote.text,
  ...markedJson('entities', quote, ids),
  position: quote.position,
  ...(quote.isManual && { is_manual: true }),
})

/** Members of a message that the reference does not repeat for one of another chat. */
const NOT_EXTERNAL = ['text', 'entities', 'caption', 'caption_entities', 'show_caption_above_media']

function externalReplyJson(
  { origin, chat, message, content }: ExternalReply,
  ids: Names,
): object | undefined {
  const shown = contentJson(content, chat, ids) ?? {}
  const kept = Object.entries(shown).filter(([name]) => !NOT_EXTERNAL.includes(name))
  return {
    origin: originJson(origin, ids),
    ...present({
      chat: chat && chatJson(chat, ids),
      message_id: chat && message !== undefined ? ids.message(chat.native, message) : undefined,
    }),
    ...Object.fromEntries(kept),
  }
}

function contentJson(content: Content, chat: Chat | undefined, ids: Names): object | undefined {
  switch (content.kind) {
    case 'text':
      return {
        text: content.text,
        ...entitiesJson('entities', content, ids),
        ...previewJson(content),
      }
    case 'location': {
      const location = locationJson(content)
      return { location, ...(content.venue && { venue: venueJson(location, content.venue) }) }
    }
    case 'contact':
      return {
        contact: present({
          phone_number: content.phone,
          first_name: content.firstName,
          last_name: content.lastName,
          user_id: content.person && ids.chat(content.person),
          vcard: content.vcard,
        }),
      }
    case 'media':
      return mediaJson(content, ids)
    case 'paid_media':
      return paidMediaJson(content, ids)
    case 'poll':
      return { poll: sentPollJson(content.poll, ids) }
    case 'checklist':
      return { checklist: checklistJson(content.checklist, ids) }
    case 'rich':
      return { rich_message: richJson(content, ids) }
    case 'invoice':
      return { invoice: invoiceJson(content.invoice) }
    case 'game':
      return { game: gameJson(content.game, ids) }
    case 'story':
      return { story: { chat: chatJson(content.chat, ids), id: content.story } }
    case 'dice':
      return { dice: { emoji: content.emoji, value: content.value } }
    case 'service':
      return chat && serviceJson(content, chat, ids)
    case 'unsupported':
      return undefined
  }
}

type ServiceContent = Content & { kind: 'service' }
type ServiceOf<Fact extends ServiceContent['fact']> = Extract<ServiceContent, { fact: Fact }>

function serviceJson(content: ServiceContent, chat: Chat, ids: Names): object | undefined {
  switch (content.fact) {
    case 'joined':
    case 'left':
      return memberFactJson(content, ids)
    case 'title':
      return { new_chat_title: content.title }
    case 'photo':
      return content.photo
        ? { new_chat_photo: photoJson(content.photo, ids) }
        : { delete_chat_photo: true }
    case 'created':
      return { [`${chat.surface === 'private' ? 'group' : chat.surface}_chat_created`]: true }
    case 'pinned': {
      const pinned = aboutJson(content, chat, ids)
      return pinned && { pinned_message: pinned }
    }
    case 'gift':
      return { gift: giftInfoJson(content.gift, ids) }
    case 'tasks_done':
    case 'tasks_added':
      return tasksFactJson(content, aboutJson(content, chat, ids), ids)
    case 'option_added':
      return optionFactJson(content, aboutJson(content, chat, ids), ids)
    case 'moved_to':
      return { migrate_to_chat_id: ids.chat(content.chat) }
    case 'moved_from':
      return { migrate_from_chat_id: ids.chat(content.chat) }
    case 'topic_created':
    case 'topic_edited':
    case 'topic_closed':
    case 'topic_reopened':
    case 'general_topic_hidden':
    case 'general_topic_unhidden':
      return topicFactJson(content)
    case 'users_shared':
      return usersSharedJson(content, ids)
    case 'chat_shared':
      return chatSharedJson(content, ids)
    case 'managed_bot_created':
      return { managed_bot_created: { bot: userJson(content.bot, ids) } }
    case 'paid':
      return { successful_payment: receiptJson(content.receipt, false) }
    case 'refunded':
      return { refunded_payment: receiptJson(content.receipt, true) }
    case 'post_approved':
    case 'post_approval_failed':
    case 'post_declined':
    case 'post_paid':
    case 'post_refunded':
      return postFactJson(content, suggestedJson(content, chat, ids))
    case 'community_added':
    case 'community_joined':
    case 'community_removed':
      return communityFactJson(content)
    case 'web_app_data':
      return { web_app_data: { data: content.data, button_text: content.button } }
  }
}

type AboutMessage = Extract<ServiceContent, { message: string; about?: Message }>

/** The message that a fact is about; of one that the network only names, the id and the chat are told. */
function aboutJson(
  { about, message }: Pick<AboutMessage, 'about' | 'message'>,
  chat: Chat,
  ids: Names,
): object | undefined {
  const bare = { chat, native: message }
  if (ids.message(chat.native, message) === undefined) return undefined
  return (about && shownJson(about, undefined, ids)) ?? bareMessageJson(bare, ids)
}

/** Of a suggestion that the network only names, the id and the chat are told. */
function suggestedJson(
  { post, message }: Pick<PostFact<Message>, 'post' | 'message'>,
  chat: Chat,
  ids: Names,
): object | undefined {
  if (post) return shownJson(post, undefined, ids)
  const isKnown = message !== undefined && ids.message(chat.native, message) !== undefined
  return isKnown ? bareMessageJson({ chat, native: message }, ids) : undefined
}

type Topical<Fact = ServiceContent['fact']> = Fact extends `${string}topic_${string}` ? Fact : never

function topicFactJson(content: ServiceOf<Topical>): object {
  switch (content.fact) {
    case 'topic_created':
      return { forum_topic_created: topicLookJson(content) }
    case 'topic_edited': {
      const { name, icon: icon_custom_emoji_id } = content
      return { forum_topic_edited: present({ name, icon_custom_emoji_id }) }
    }
    case 'topic_closed':
      return { forum_topic_closed: {} }
    case 'topic_reopened':
      return { forum_topic_reopened: {} }
    case 'general_topic_hidden':
      return { general_forum_topic_hidden: {} }
    case 'general_topic_unhidden':
      return { general_forum_topic_unhidden: {} }
  }
}

const keyboardJson = (buttons: Buttons) => ({
  inline_keyboard: buttons.map((row) => row.map(buttonJson)),
})

/** The reference shows a bot only where a button for signing in leads. */
function shownAction({ login_url: login, ...action }: Readonly<Record<string, unknown>>): object {
  const url = (login as { readonly url?: unknown } | undefined)?.url
  return { ...action, ...present({ url }) }
}

function buttonJson(button: Button): object {
  const { text, look } = button
  const looks = present({ icon_custom_emoji_id: look?.icon, style: look?.style })
  if ('data' in button) return { text, ...looks, callback_data: button.data }
  return { text, ...looks, ...('url' in button ? { url: button.url } : shownAction(button.action)) }
}

/** The origin of a forwarded message, in the current fields and in the older ones. */
function forwardJson(origin: Origin, ids: Names): object {
  const forward_origin = originJson(origin, ids)
  const forward_date = origin.at
  switch (origin.from) {
    case 'person':
      return { forward_origin, forward_from: userJson(origin.person, ids), forward_date }
    case 'hidden':
      return { forward_origin, forward_sender_name: origin.name, forward_date }
    case 'chat': {
      const message = origin.message && ids.message(origin.chat.native, origin.message)
      return {
        forward_origin,
        forward_from_chat: chatJson(origin.chat, ids),
        ...present({
          forward_from_message_id: message || undefined,
          forward_signature: origin.signature,
        }),
        forward_date,
      }
    }
  }
}

function originJson(origin: Origin, ids: Names): object {
  const date = origin.at
  switch (origin.from) {
    case 'person':
      return { type: 'user', sender_user: userJson(origin.person, ids), date }
    case 'hidden':
      return { type: 'hidden_user', sender_user_name: origin.name, date }
    case 'chat': {
      const chat = chatJson(origin.chat, ids)
      const signature = origin.signature ? { author_signature: origin.signature } : {}
      // In the name of a channel, too, it may have been written to a group.
      if (origin.chat.surface !== 'channel' || origin.message === undefined)
        return { type: 'chat', sender_chat: chat, date, ...signature }
      const message = ids.message(origin.chat.native, origin.message)
      return { type: 'channel', chat, message_id: message ?? 0, date, ...signature }
    }
  }
}
