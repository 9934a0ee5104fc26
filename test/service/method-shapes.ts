/** The types of the reference, by the members that are always there: patterns for results. */
export const user = { id: Number, is_bot: Boolean, first_name: String }
export const message = {
  message_id: Number,
  date: Number,
  from: user,
  chat: { id: Number, type: String },
}
export const file = { file_id: String, file_unique_id: String }
export const sized = { ...file, width: Number, height: Number }
export const stickerSet = {
  name: String,
  title: String,
  sticker_type: 'regular',
  stickers: [{ ...sized, type: 'regular', set_name: String, emoji: String }],
}
export const member = { status: String, user }
export const poll = {
  id: String,
  question: String,
  options: [{ persistent_id: String, text: String, voter_count: Number }],
  total_voter_count: Number,
  is_closed: Boolean,
  is_anonymous: Boolean,
  type: String,
  allows_multiple_answers: Boolean,
  allows_revoting: Boolean,
  members_only: Boolean,
}
export const invite = {
  invite_link: String,
  creator: user,
  creates_join_request: Boolean,
  is_primary: Boolean,
  is_revoked: Boolean,
}
export const rights = {
  is_anonymous: Boolean,
  can_manage_chat: Boolean,
  can_delete_stories: Boolean,
  can_send_welcome_messages: Boolean,
}
export const fullChat = {
  id: Number,
  type: 'supergroup',
  title: String,
  accent_color_id: Number,
  max_reaction_count: Number,
  accepted_gift_types: { unlimited_gifts: Boolean, gifts_from_channels: Boolean },
  permissions: { can_send_messages: Boolean, can_react_to_messages: Boolean },
}
