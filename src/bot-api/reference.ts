/** The reference (Telegram Bot API 10.3) as data: its methods, and their parameters in its own order. */

export const REFERENCE_VERSION = '10.3'

export const reference: Readonly<Record<string, string>> = {
  addStickerToSet: 'user_id name sticker',
  answerCallbackQuery: 'callback_query_id text show_alert url cache_time',
  answerChatJoinRequestQuery: 'chat_join_request_query_id result',
  answerGuestQuery: 'guest_query_id result',
  answerInlineQuery: 'inline_query_id results cache_time is_personal next_offset button',
  answerPreCheckoutQuery: 'pre_checkout_query_id ok error_message',
  answerShippingQuery: 'shipping_query_id ok shipping_options error_message',
  answerWebAppQuery: 'web_app_query_id result',
  approveChatJoinRequest: 'chat_id user_id',
  approveSuggestedPost: 'chat_id message_id send_date',
  banChatMember: 'chat_id user_id until_date revoke_messages',
  banChatSenderChat: 'chat_id sender_chat_id',
  close: '',
  closeForumTopic: 'chat_id message_thread_id',
  closeGeneralForumTopic: 'chat_id',
  convertGiftToStars: 'business_connection_id owned_gift_id',
  copyMessage:
    'chat_id message_thread_id direct_messages_topic_id from_chat_id message_id video_start_timestamp caption parse_mode caption_entities show_caption_above_media disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  copyMessages:
    'chat_id message_thread_id direct_messages_topic_id from_chat_id message_ids disable_notification protect_content remove_caption',
  createChatInviteLink: 'chat_id name expire_date member_limit creates_join_request',
  createChatSubscriptionInviteLink: 'chat_id name subscription_period subscription_price',
  createForumTopic: 'chat_id name icon_color icon_custom_emoji_id',
  createInvoiceLink:
    'business_connection_id title description payload provider_token currency prices subscription_period max_tip_amount suggested_tip_amounts provider_data photo_url photo_size photo_width photo_height need_name need_phone_number need_email need_shipping_address send_phone_number_to_provider send_email_to_provider is_flexible',
  createNewStickerSet: 'user_id name title stickers sticker_type needs_repainting',
  declineChatJoinRequest: 'chat_id user_id',
  declineSuggestedPost: 'chat_id message_id comment',
  deleteAllMessageReactions: 'chat_id user_id actor_chat_id',
  deleteBusinessMessages: 'business_connection_id message_ids',
  deleteChatPhoto: 'chat_id',
  deleteChatStickerSet: 'chat_id',
  deleteEphemeralMessage: 'chat_id receiver_user_id ephemeral_message_id',
  deleteForumTopic: 'chat_id message_thread_id',
  deleteMessage: 'chat_id message_id',
  deleteMessageReaction: 'chat_id message_id user_id actor_chat_id',
  deleteMessages: 'chat_id message_ids',
  deleteMyCommands: 'scope language_code',
  deleteStickerFromSet: 'sticker',
  deleteStickerSet: 'name',
  deleteStory: 'business_connection_id story_id',
  deleteWebhook: 'drop_pending_updates',
  editChatInviteLink: 'chat_id invite_link name expire_date member_limit creates_join_request',
  editChatSubscriptionInviteLink: 'chat_id invite_link name',
  editEphemeralMessageCaption:
    'chat_id receiver_user_id ephemeral_message_id caption parse_mode caption_entities show_caption_above_media reply_markup',
  editEphemeralMessageMedia: 'chat_id receiver_user_id ephemeral_message_id media reply_markup',
  editEphemeralMessageReplyMarkup: 'chat_id receiver_user_id ephemeral_message_id reply_markup',
  editEphemeralMessageText:
    'chat_id receiver_user_id ephemeral_message_id text parse_mode entities rich_message link_preview_options reply_markup',
  editForumTopic: 'chat_id message_thread_id name icon_custom_emoji_id',
  editGeneralForumTopic: 'chat_id name',
  editMessageCaption:
    'business_connection_id chat_id message_id inline_message_id caption parse_mode caption_entities show_caption_above_media reply_markup',
  editMessageChecklist: 'business_connection_id chat_id message_id checklist reply_markup',
  editMessageLiveLocation:
    'business_connection_id chat_id message_id inline_message_id latitude longitude live_period horizontal_accuracy heading proximity_alert_radius reply_markup',
  editMessageMedia:
    'business_connection_id chat_id message_id inline_message_id media reply_markup',
  editMessageReplyMarkup:
    'business_connection_id chat_id message_id inline_message_id reply_markup',
  editMessageText:
    'business_connection_id chat_id message_id inline_message_id text parse_mode entities link_preview_options rich_message reply_markup',
  editStory: 'business_connection_id story_id content caption parse_mode caption_entities areas',
  editUserStarSubscription: 'user_id telegram_payment_charge_id is_canceled',
  exportChatInviteLink: 'chat_id',
  forwardMessage:
    'chat_id message_thread_id direct_messages_topic_id from_chat_id video_start_timestamp disable_notification protect_content message_effect_id suggested_post_parameters message_id',
  forwardMessages:
    'chat_id message_thread_id direct_messages_topic_id from_chat_id message_ids disable_notification protect_content',
  getAvailableGifts: '',
  getBusinessAccountGifts:
    'business_connection_id exclude_unsaved exclude_saved exclude_unlimited exclude_limited_upgradable exclude_limited_non_upgradable exclude_unique exclude_from_blockchain sort_by_price offset limit',
  getBusinessAccountStarBalance: 'business_connection_id',
  getBusinessConnection: 'business_connection_id',
  getChat: 'chat_id',
  getChatAdministrators: 'chat_id return_bots',
  getChatGifts:
    'chat_id exclude_unsaved exclude_saved exclude_unlimited exclude_limited_upgradable exclude_limited_non_upgradable exclude_from_blockchain exclude_unique sort_by_price offset limit',
  getChatMember: 'chat_id user_id',
  getChatMemberCount: 'chat_id',
  getChatMenuButton: 'chat_id',
  getCustomEmojiStickers: 'custom_emoji_ids',
  getFile: 'file_id',
  getForumTopicIconStickers: '',
  getGameHighScores: 'user_id chat_id message_id inline_message_id',
  getManagedBotAccessSettings: 'user_id',
  getManagedBotToken: 'user_id',
  getMe: '',
  getMyCommands: 'scope language_code',
  getMyDefaultAdministratorRights: 'for_channels',
  getMyDescription: 'language_code',
  getMyName: 'language_code',
  getMyShortDescription: 'language_code',
  getMyStarBalance: '',
  getStarTransactions: 'offset limit',
  getStickerSet: 'name',
  getUpdates: 'offset limit timeout allowed_updates',
  getUserChatBoosts: 'chat_id user_id',
  getUserGifts:
    'user_id exclude_unlimited exclude_limited_upgradable exclude_limited_non_upgradable exclude_from_blockchain exclude_unique sort_by_price offset limit',
  getUserPersonalChatMessages: 'user_id limit',
  getUserProfileAudios: 'user_id offset limit',
  getUserProfilePhotos: 'user_id offset limit',
  getWebhookInfo: '',
  giftPremiumSubscription: 'user_id month_count star_count text text_parse_mode text_entities',
  hideGeneralForumTopic: 'chat_id',
  leaveChat: 'chat_id',
  logOut: '',
  pinChatMessage: 'business_connection_id chat_id message_id disable_notification',
  postStory:
    'business_connection_id content active_period caption parse_mode caption_entities areas post_to_chat_page protect_content',
  promoteChatMember:
    'chat_id user_id is_anonymous can_manage_chat can_delete_messages can_manage_video_chats can_restrict_members can_promote_members can_change_info can_invite_users can_post_stories can_edit_stories can_delete_stories can_post_messages can_edit_messages can_pin_messages can_manage_topics can_manage_direct_messages can_manage_tags can_send_welcome_messages',
  readBusinessMessage: 'business_connection_id chat_id message_id',
  refundStarPayment: 'user_id telegram_payment_charge_id',
  removeBusinessAccountProfilePhoto: 'business_connection_id is_public',
  removeChatVerification: 'chat_id',
  removeMyProfilePhoto: '',
  removeUserVerification: 'user_id',
  reopenForumTopic: 'chat_id message_thread_id',
  reopenGeneralForumTopic: 'chat_id',
  replaceManagedBotToken: 'user_id',
  replaceStickerInSet: 'user_id name old_sticker sticker',
  repostStory:
    'business_connection_id from_chat_id from_story_id active_period post_to_chat_page protect_content',
  restrictChatMember: 'chat_id user_id permissions use_independent_chat_permissions until_date',
  revokeChatInviteLink: 'chat_id invite_link',
  savePreparedInlineMessage:
    'user_id result allow_user_chats allow_bot_chats allow_group_chats allow_channel_chats',
  savePreparedKeyboardButton: 'user_id button',
  sendAnimation:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters animation duration width height thumbnail caption parse_mode caption_entities show_caption_above_media has_spoiler disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendAudio:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters audio caption parse_mode caption_entities duration performer title thumbnail disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendChatAction: 'business_connection_id chat_id message_thread_id action',
  sendChatJoinRequestWebApp: 'chat_join_request_query_id web_app_url',
  sendChecklist:
    'business_connection_id chat_id checklist disable_notification protect_content message_effect_id reply_parameters reply_markup',
  sendContact:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters phone_number first_name last_name vcard disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendDice:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id emoji disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendDocument:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters document thumbnail caption parse_mode caption_entities disable_content_type_detection disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendGame:
    'business_connection_id chat_id message_thread_id game_short_name disable_notification protect_content allow_paid_broadcast message_effect_id reply_parameters reply_markup',
  sendGift: 'user_id chat_id gift_id pay_for_upgrade text text_parse_mode text_entities',
  sendInvoice:
    'chat_id message_thread_id direct_messages_topic_id title description payload provider_token currency prices max_tip_amount suggested_tip_amounts start_parameter provider_data photo_url photo_size photo_width photo_height need_name need_phone_number need_email need_shipping_address send_phone_number_to_provider send_email_to_provider is_flexible disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendLivePhoto:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters live_photo photo caption parse_mode caption_entities show_caption_above_media has_spoiler disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendLocation:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters latitude longitude horizontal_accuracy live_period heading proximity_alert_radius disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendMediaGroup:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id media disable_notification protect_content allow_paid_broadcast message_effect_id reply_parameters',
  sendMessage:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters text parse_mode entities link_preview_options disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendMessageDraft:
    'chat_id message_thread_id draft_id text parse_mode entities can_stop keep_on_stop',
  sendPaidMedia:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id star_count media payload caption parse_mode caption_entities show_caption_above_media disable_notification protect_content allow_paid_broadcast suggested_post_parameters reply_parameters reply_markup',
  sendPhoto:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters photo caption parse_mode caption_entities show_caption_above_media has_spoiler disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendPoll:
    'business_connection_id chat_id message_thread_id question question_parse_mode question_entities options is_anonymous type allows_multiple_answers allows_revoting shuffle_options allow_adding_options hide_results_until_closes members_only country_codes correct_option_ids explanation explanation_parse_mode explanation_entities explanation_media open_period close_date is_closed description description_parse_mode description_entities media disable_notification protect_content allow_paid_broadcast message_effect_id reply_parameters reply_markup',
  sendRichMessage:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters rich_message disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendRichMessageDraft: 'chat_id message_thread_id draft_id rich_message can_stop keep_on_stop',
  sendSticker:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters sticker emoji disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendVenue:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters latitude longitude title address foursquare_id foursquare_type google_place_id google_place_type disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendVideo:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters video duration width height thumbnail cover start_timestamp caption parse_mode caption_entities show_caption_above_media has_spoiler supports_streaming disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendVideoNote:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters video_note duration length thumbnail disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  sendVoice:
    'business_connection_id chat_id message_thread_id direct_messages_topic_id ephemeral_message_parameters voice caption parse_mode caption_entities duration disable_notification protect_content allow_paid_broadcast message_effect_id suggested_post_parameters reply_parameters reply_markup',
  setBusinessAccountBio: 'business_connection_id bio',
  setBusinessAccountGiftSettings: 'business_connection_id show_gift_button accepted_gift_types',
  setBusinessAccountName: 'business_connection_id first_name last_name',
  setBusinessAccountProfilePhoto: 'business_connection_id photo is_public',
  setBusinessAccountUsername: 'business_connection_id username',
  setChatAdministratorCustomTitle: 'chat_id user_id custom_title',
  setChatDescription: 'chat_id description',
  setChatMemberTag: 'chat_id user_id tag',
  setChatMenuButton: 'chat_id menu_button',
  setChatPermissions: 'chat_id permissions use_independent_chat_permissions',
  setChatPhoto: 'chat_id photo',
  setChatStickerSet: 'chat_id sticker_set_name',
  setChatTitle: 'chat_id title',
  setCustomEmojiStickerSetThumbnail: 'name custom_emoji_id',
  setGameScore: 'user_id score force disable_edit_message chat_id message_id inline_message_id',
  setManagedBotAccessSettings: 'user_id is_access_restricted added_user_ids',
  setMessageReaction: 'chat_id message_id reaction is_big',
  setMyCommands: 'commands scope language_code',
  setMyDefaultAdministratorRights: 'rights for_channels',
  setMyDescription: 'description language_code',
  setMyName: 'name language_code',
  setMyProfilePhoto: 'photo',
  setMyShortDescription: 'short_description language_code',
  setPassportDataErrors: 'user_id errors',
  setStickerEmojiList: 'sticker emoji_list',
  setStickerKeywords: 'sticker keywords',
  setStickerMaskPosition: 'sticker mask_position',
  setStickerPositionInSet: 'sticker position',
  setStickerSetThumbnail: 'name user_id thumbnail format',
  setStickerSetTitle: 'name title',
  setUserEmojiStatus: 'user_id emoji_status_custom_emoji_id emoji_status_expiration_date',
  setWebhook:
    'url certificate ip_address max_connections allowed_updates drop_pending_updates secret_token',
  stopMessageLiveLocation:
    'business_connection_id chat_id message_id inline_message_id reply_markup',
  stopPoll: 'business_connection_id chat_id message_id reply_markup',
  transferBusinessAccountStars: 'business_connection_id star_count',
  transferGift: 'business_connection_id owned_gift_id new_owner_chat_id star_count',
  unbanChatMember: 'chat_id user_id only_if_banned',
  unbanChatSenderChat: 'chat_id sender_chat_id',
  unhideGeneralForumTopic: 'chat_id',
  unpinAllChatMessages: 'chat_id',
  unpinAllForumTopicMessages: 'chat_id message_thread_id',
  unpinAllGeneralForumTopicMessages: 'chat_id',
  unpinChatMessage: 'business_connection_id chat_id message_id',
  upgradeGift: 'business_connection_id owned_gift_id keep_original_details star_count',
  uploadStickerFile: 'user_id sticker sticker_format',
  verifyChat: 'chat_id custom_description',
  verifyUser: 'user_id custom_description',
}

/** Of version 10.4, as far as its methods are known by name. */
const REFERENCE_NEWER = [
  'sendWidget',
  'sendSharedWidget',
  'answerWidgetQuery',
  'editMessageWidgetData',
  'editSharedWidgetData',
] as const

/** Every method name of the reference: what is known, supported or not. */
export const METHOD_NAMES: readonly string[] = [...Object.keys(reference), ...REFERENCE_NEWER]

/** Methods that the reference does not have: an account of a person has chats, a bot has none. */
export const METHODS_BEYOND = ['getChats', 'getChatHistory', 'markAsRead', 'resolvePhone'] as const

/** What some methods were called before; the reference still answers to these names. */
const FORMERLY = {
  kickChatMember: 'banChatMember',
  getChatMembersCount: 'getChatMemberCount',
  setStickerSetThumb: 'setStickerSetThumbnail',
} as const

const canonical = new Map<string, string>(
  [
    ...[...METHOD_NAMES, ...METHODS_BEYOND].map((name) => [name, name] as const),
    ...Object.entries(FORMERLY),
  ].map(([name, method]) => [name.toLowerCase(), method]),
)

/** The name in the reference's spelling; letter case does not matter. */
export const methodName = (name: string): string | undefined => canonical.get(name.toLowerCase())
