/** The operations that people of the sandbox can carry out, on linked devices as well as by the sandbox's own routes. */
import { type Handlers, handle } from '../../actors/ports/platform.ts'
import type { Operation, OperationKind, OperationResult } from '../../machines/model/operation.ts'
import { listBoosts } from './boosts/boosts.ts'
import { managedBotAccess, managedBotToken, setManagedBotAccess } from './bots/managed-bots.ts'
import { setPassportErrors } from './bots/passport-errors.ts'
import { actForBusiness, deleteForBusiness } from './business/act-for-business.ts'
import { reportToBusiness } from './business/connections.ts'
import { manageInvite } from './chats/invites.ts'
import { answerJoinQuery, showJoinApp } from './chats/join-queries.ts'
import { answerJoin } from './chats/joining.ts'
import { describe, resolve, resolvePhone } from './chats/lookup.ts'
import {
  countAllMembers,
  describeMember,
  listAdministrators,
  moderate,
  setDefaultRights,
} from './chats/moderation.ts'
import { listChats, markRead, personalMessages, readHistory } from './chats/reading.ts'
import {
  leave,
  pin,
  setChatStickers,
  setDescription,
  setPermissions,
  setPhoto,
  setTitle,
  unpin,
  unpinAll,
} from './chats/settings.ts'
import { editSubscriptionInvite, makeSubscriptionInvite } from './chats/subscriptions.ts'
import { banSender, setMemberTag, setMemberTitle } from './chats/titles.ts'
import { listScores, setScore } from './games/scores.ts'
import {
  availableGifts,
  convertGift,
  giftPremium,
  ownedGifts,
  sendGift,
  setGiftSettings,
  starBalance,
  transferGift,
  transferStars,
  upgradeGift,
} from './gifts/gifts.ts'
import { answerGuest, answerInline } from './inline/inline-mode.ts'
import { answerWebApp, prepareInline } from './inline/prepared.ts'
import { answerCallback } from './messages/callback.ts'
import { showDraft, showTyping } from './messages/composing.ts'
import { deleteMessage, edit, editInline } from './messages/edit.ts'
import { deleteEphemeral, editEphemeral, sendEphemeral } from './messages/ephemeral.ts'
import { forwardOrCopy } from './messages/forward.ts'
import { react, removeAllReactions, removeReaction } from './messages/reactions.ts'
import { send, sendAlbum } from './messages/send.ts'
import { prepareKey } from './messages/sharing.ts'
import { approvePost, declinePost } from './messages/suggested-posts.ts'
import type { Call } from './network/context.ts'
import { answerPayment, invoiceLink } from './payments/checkout.ts'
import { changeSubscription, refundStars, starTransactions } from './payments/stars.ts'
import { setEmojiStatus, verify } from './people/honours.ts'
import {
  profileAudios,
  profilePhotos,
  setAbout,
  setName,
  setProfilePhoto,
  setUsername,
} from './people/profile.ts'
import { stopPoll } from './polls/polls.ts'
import {
  createStickerSet,
  editSticker,
  editStickerSet,
  uploadSticker,
} from './stickers/edit-sticker-set.ts'
import { customEmoji, stickerSet, topicIcons } from './stickers/sticker-sets.ts'
import { deleteStory, editStory, postStory, repostStory } from './stories/stories.ts'
import { editGeneralTopic, unpinTopic } from './topics/general-topic.ts'
import { closeOrReopenTopic, createTopic, deleteTopic, editTopic } from './topics/topics.ts'

export const handlers: Handlers<Call> = {
  send,
  send_album: sendAlbum,
  edit,
  edit_caption: edit,
  edit_buttons: edit,
  edit_location: edit,
  stop_poll: stopPoll,
  delete: deleteMessage,
  forward: forwardOrCopy,
  copy: forwardOrCopy,
  react,
  act: showTyping,
  answer: answerCallback,
  resolve,
  describe,
  set_title: setTitle,
  set_description: setDescription,
  set_photo: setPhoto,
  set_permissions: setPermissions,
  pin,
  unpin,
  unpin_all: unpinAll,
  leave,
  administrators: listAdministrators,
  count_members: countAllMembers,
  member: describeMember,
  ban: moderate,
  unban: moderate,
  restrict: moderate,
  promote: moderate,
  invite: manageInvite,
  edit_invite: manageInvite,
  revoke_invite: manageInvite,
  answer_join: answerJoin,
  create_topic: createTopic,
  edit_topic: editTopic,
  close_topic: closeOrReopenTopic,
  reopen_topic: closeOrReopenTopic,
  delete_topic: deleteTopic,
  send_ephemeral: sendEphemeral,
  edit_ephemeral: editEphemeral,
  delete_ephemeral: deleteEphemeral,
  draft: showDraft,
  sticker_set: stickerSet,
  edit_general_topic: editGeneralTopic,
  unpin_topic: unpinTopic,
  set_member_title: setMemberTitle,
  set_member_tag: setMemberTag,
  ban_sender: banSender,
  unban_sender: banSender,
  boosts: listBoosts,
  verify,
  unverify: verify,
  set_emoji_status: setEmojiStatus,
  subscription_invite: makeSubscriptionInvite,
  edit_subscription_invite: editSubscriptionInvite,
  approve_post: approvePost,
  decline_post: declinePost,
  upload_sticker: uploadSticker,
  create_sticker_set: createStickerSet,
  edit_sticker_set: editStickerSet,
  edit_sticker: editSticker,
  custom_emoji: customEmoji,
  topic_icons: topicIcons,
  set_chat_stickers: setChatStickers,
  profile_photos: profilePhotos,
  profile_audios: profileAudios,
  set_name: setName,
  set_about: setAbout,
  set_profile_photo: setProfilePhoto,
  remove_reaction: removeReaction,
  remove_all_reactions: removeAllReactions,
  post_story: postStory,
  delete_story: deleteStory,
  edit_story: editStory,
  repost_story: repostStory,
  for_business: (call, operation) => actForBusiness(call, operation, execute),
  delete_for_business: (call, operation) => deleteForBusiness(call, operation, execute),
  set_username: setUsername,
  available_gifts: availableGifts,
  send_gift: sendGift,
  gift_premium: giftPremium,
  owned_gifts: ownedGifts,
  convert_gift: convertGift,
  upgrade_gift: upgradeGift,
  transfer_gift: transferGift,
  set_gift_settings: setGiftSettings,
  star_balance: starBalance,
  transfer_stars: transferStars,
  list_chats: listChats,
  read_history: readHistory,
  mark_read: markRead,
  resolve_phone: resolvePhone,
  answer_inline: answerInline,
  prepare_inline: prepareInline,
  answer_web_app: answerWebApp,
  answer_guest: answerGuest,
  edit_inline: editInline,
  prepare_key: prepareKey,
  invoice_link: invoiceLink,
  answer_shipping: answerPayment,
  answer_checkout: answerPayment,
  star_transactions: starTransactions,
  refund_stars: refundStars,
  change_subscription: changeSubscription,
  answer_join_query: answerJoinQuery,
  show_join_app: showJoinApp,
  personal_messages: personalMessages,
  managed_bot_token: managedBotToken,
  managed_bot_access: managedBotAccess,
  set_managed_bot_access: setManagedBotAccess,
  passport_errors: setPassportErrors,
  set_default_rights: setDefaultRights,
  set_score: setScore,
  scores: listScores,
}

/** Operations that add a row which stays, for a network that has only room for so many. */
const GROWING: ReadonlySet<OperationKind> = new Set([
  'send',
  'refund_stars',
  'send_ephemeral',
  'forward',
  'copy',
  'post_story',
  'create_topic',
  'edit_topic',
  'close_topic',
  'reopen_topic',
  'set_title',
  'set_photo',
  'pin',
  'invite',
  'revoke_invite',
  'set_profile_photo',
  'create_sticker_set',
  'edit_general_topic',
  'repost_story',
  'send_gift',
  'gift_premium',
  'transfer_stars',
  'invoice_link',
  'subscription_invite',
  'approve_post',
  'decline_post',
])

function rowsAddedBy(operation: Operation): number {
  if (operation.kind === 'send_album') return operation.contents.length
  return GROWING.has(operation.kind) ? 1 : 0
}

/** Rejects with `RequestFailed`, also where the network of the person is full. */
export async function execute(call: Call, operation: Operation): Promise<OperationResult> {
  const { capacity, network } = call.context
  const rows = rowsAddedBy(operation)
  const run = () => handle(handlers, 'Sandbox', call, operation)
  const result = rows === 0 ? await run() : await capacity.reserve(network, rows, run)
  await reportToBusiness(call, operation, result)
  return result
}
