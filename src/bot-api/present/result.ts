/** The result of an operation in the reference's JSON. */
import type { Chat, Message } from '../../../machines/model/content.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { OperationResult } from '../../../machines/model/operation.ts'
import type { ListedChat } from '../../../machines/model/operation-reading.ts'
import { connectionJson } from './business.ts'
import {
  boostJson,
  chatJson,
  inviteJson,
  memberJson,
  type Names,
  permissionsJson,
  present,
  userJson,
} from './chat.ts'
import {
  audioJson,
  file,
  photoJson,
  pollJson,
  sizeJson,
  stickerJson,
  stickerSetJson,
} from './content.ts'
import { bareMessageJson, messageJson, topicJson } from './message.ts'
import { giftJson, ownedGiftJson, transactionsJson } from './payment.ts'

/** A chat as getChat shows it, with the fields that the reference always has. */
const fullChatJson = (chat: Chat, ids: Names) => ({
  ...chatJson(chat, ids),
  ...present({
    photo: chat.photo && chatPhotoJson(chat.photo, ids),
    invite_link: chat.inviteLink,
    join_by_request: chat.needsApproval || undefined,
    permissions: chat.permissions && permissionsJson(chat.permissions),
    pinned_message: chat.pinned && pinnedJson(chat.pinned, ids),
    bio: chat.surface === 'private' ? chat.description : undefined,
    description: chat.surface === 'private' ? undefined : chat.description,
    emoji_status_custom_emoji_id: chat.emojiStatus?.customEmojiId,
    emoji_status_expiration_date: chat.emojiStatus?.until,
    personal_chat: chat.personal && chatJson(chat.personal, ids),
    parent_chat: chat.parent && chatJson(chat.parent, ids),
    community: chat.community,
    slow_mode_delay: chat.slowSeconds,
    sticker_set_name: chat.stickerSet,
    can_set_sticker_set: chat.maySetStickers,
    active_usernames: chat.username === undefined ? undefined : [chat.username],
  }),
  accent_color_id: 0,
  // As many kinds as the reference lets stand under one message.
  max_reaction_count: 11,
  accepted_gift_types: {
    unlimited_gifts: chat.acceptedGifts?.unlimited ?? false,
    limited_gifts: chat.acceptedGifts?.limited ?? false,
    unique_gifts: chat.acceptedGifts?.unique ?? false,
    premium_subscription: chat.acceptedGifts?.premium ?? false,
    gifts_from_channels: chat.acceptedGifts?.fromChannels ?? false,
  },
})

/** A pinned message is left out if it has no public id. */
const pinnedJson = (pinned: Message, ids: Names): object | undefined =>
  ids.message(pinned.chat.native, pinned.native) === undefined
    ? undefined
    : messageJson(pinned, ids)

function chatPhotoJson(photo: Media, ids: Names): object {
  const [small, big] = [photo.sizes?.[0] ?? photo, photo].map((size) =>
    sizeJson(size, ids, 'photo'),
  )
  return {
    small_file_id: small?.file_id,
    small_file_unique_id: small?.file_unique_id,
    big_file_id: big?.file_id,
    big_file_unique_id: big?.file_unique_id,
  }
}

const anyMessageJson = (message: Message, ids: Names): object =>
  messageJson(message, ids) ?? bareMessageJson(message, ids)

const listedChatJson = ({ chat, last, unread }: ListedChat, ids: Names): object => ({
  chat: chatJson(chat, ids),
  ...present({
    last_message: last && anyMessageJson(last.message, ids),
    unread_count: unread,
  }),
})

type ResultOf<Kind extends OperationResult['kind']> = Extract<OperationResult, { kind: Kind }>

const chatListJson = ({ chats, next }: ResultOf<'chats'>, ids: Names): object => ({
  chats: chats.map((listed) => listedChatJson(listed, ids)),
  ...present({ next_offset: next }),
})

const accessJson = ({ isRestricted, people }: ResultOf<'access'>, ids: Names): object => ({
  is_access_restricted: isRestricted,
  ...(isRestricted && { added_users: people.map((person) => userJson(person, ids)) }),
})

const foundPersonJson = ({ person }: ResultOf<'person'>, ids: Names): object => ({
  is_registered: person !== undefined,
  ...present({ user: person && userJson(person, ids) }),
})

const ownedGiftsJson = ({ total, gifts, next }: ResultOf<'owned_gifts'>, ids: Names): object => ({
  total_count: total,
  gifts: gifts.map((gift) => ownedGiftJson(gift, ids)),
  ...present({ next_offset: next }),
})

const profileJson = (page: ResultOf<'photos' | 'audios'>, ids: Names): object => ({
  total_count: page.total,
  ...(page.kind === 'photos'
    ? { photos: page.photos.map((photo) => photoJson(photo, ids)) }
    : { audios: page.audios.map((audio) => audioJson(audio, ids)) }),
})

const scoresJson = ({ scores }: ResultOf<'scores'>, ids: Names): object[] =>
  scores.map(({ place, person, score }) => ({
    position: place,
    user: userJson(person, ids),
    score,
  }))

/** Results with a price: gifts and Stars. */
function valuesJson(
  result: ResultOf<'gifts' | 'owned_gifts' | 'stars' | 'transactions'>,
  ids: Names,
): object {
  switch (result.kind) {
    case 'gifts':
      return { gifts: result.gifts.map((gift) => giftJson(gift, ids)) }
    case 'owned_gifts':
      return ownedGiftsJson(result, ids)
    case 'stars':
      return { amount: result.stars }
    case 'transactions':
      return transactionsJson(result.transactions, ids)
  }
}

const inlineJson = (result: ResultOf<'prepared' | 'sent_inline'>): object =>
  result.kind === 'prepared'
    ? { id: result.id, ...present({ expiration_date: result.expiresAt }) }
    : present({ inline_message_id: result.inline })

const stickersJson = (result: ResultOf<'stickers' | 'sticker_list'>, ids: Names): object =>
  result.kind === 'stickers'
    ? stickerSetJson(result.set, ids)
    : result.stickers.map((sticker) => stickerJson(sticker, ids))

export function resultJson(result: OperationResult, ids: Names): unknown {
  switch (result.kind) {
    case 'message':
      return anyMessageJson(result.message, ids)
    case 'messages':
      return result.messages.map((message) => anyMessageJson(message, ids))
    case 'history':
      return result.messages.map(({ message }) => anyMessageJson(message, ids))
    case 'chats':
      return chatListJson(result, ids)
    case 'person':
      return foundPersonJson(result, ids)
    case 'chat':
      return fullChatJson(result.chat, ids)
    case 'poll':
      return pollJson(result.poll, ids)
    case 'member':
      return memberJson(result.member, result.surface, ids)
    case 'members':
      return result.members.map((member) => memberJson(member, result.surface, ids))
    case 'invite':
      return inviteJson(result.invite, ids)
    case 'gifts':
    case 'owned_gifts':
    case 'stars':
    case 'transactions':
      return valuesJson(result, ids)
    case 'business':
      return connectionJson(result.connection, ids)
    case 'boosts':
      return { boosts: result.boosts.map((boost) => boostJson(boost, ids)) }
    case 'topic':
      return topicJson(result.chat.native, result.topic, ids)
    case 'stickers':
    case 'sticker_list':
      return stickersJson(result, ids)
    case 'file':
      return file(result.media, ids)
    case 'story':
      return { chat: chatJson(result.story.chat, ids), id: result.story.id }
    case 'prepared':
    case 'sent_inline':
      return inlineJson(result)
    case 'access':
      return accessJson(result, ids)
    case 'scores':
      return scoresJson(result, ids)
    case 'number':
      return result.number
    case 'link':
      return result.link
    case 'token':
      return result.token
    case 'photos':
    case 'audios':
      return profileJson(result, ids)
    case 'done':
      return true
  }
}
