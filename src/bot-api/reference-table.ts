/** The methods of the reference, as `npm run adopt-reference` writes them; do not edit by hand. */

export const REFERENCE_VERSION = '10.3'

/** Each parameter as `name:type`, with `!` where it is required, in the reference's order. */
export const table = {
  addStickerToSet: 'user_id:number! name:string! sticker:json!',
  answerCallbackQuery:
    'callback_query_id:string! text:string show_alert:boolean url:string cache_time:number',
  answerChatJoinRequestQuery: 'chat_join_request_query_id:string! result:string!',
  answerGuestQuery: 'guest_query_id:string! result:json!',
  answerInlineQuery:
    'inline_query_id:string! results:json! cache_time:number is_personal:boolean next_offset:string button:json',
  answerPreCheckoutQuery: 'pre_checkout_query_id:string! ok:boolean! error_message:string',
  answerShippingQuery:
    'shipping_query_id:string! ok:boolean! shipping_options:json error_message:string',
  answerWebAppQuery: 'web_app_query_id:string! result:json!',
  approveChatJoinRequest: 'chat_id:chat! user_id:number!',
  approveSuggestedPost: 'chat_id:number! message_id:number! send_date:number',
  banChatMember: 'chat_id:chat! user_id:number! until_date:number revoke_messages:boolean',
  banChatSenderChat: 'chat_id:chat! sender_chat_id:number!',
  close: '',
  closeForumTopic: 'chat_id:chat! message_thread_id:number!',
  closeGeneralForumTopic: 'chat_id:chat!',
  convertGiftToStars: 'business_connection_id:string! owned_gift_id:string!',
  copyMessage:
    'chat_id:chat! message_thread_id:number direct_messages_topic_id:number from_chat_id:chat! message_id:number! video_start_timestamp:number caption:string parse_mode:string caption_entities:json show_caption_above_media:boolean disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  copyMessages:
    'chat_id:chat! message_thread_id:number direct_messages_topic_id:number from_chat_id:chat! message_ids:json! disable_notification:boolean protect_content:boolean remove_caption:boolean',
  createChatInviteLink:
    'chat_id:chat! name:string expire_date:number member_limit:number creates_join_request:boolean',
  createChatSubscriptionInviteLink:
    'chat_id:chat! name:string subscription_period:number! subscription_price:number!',
  createForumTopic: 'chat_id:chat! name:string! icon_color:number icon_custom_emoji_id:string',
  createInvoiceLink:
    'business_connection_id:string title:string! description:string! payload:string! provider_token:string currency:string! prices:json! subscription_period:number max_tip_amount:number suggested_tip_amounts:json provider_data:string photo_url:string photo_size:number photo_width:number photo_height:number need_name:boolean need_phone_number:boolean need_email:boolean need_shipping_address:boolean send_phone_number_to_provider:boolean send_email_to_provider:boolean is_flexible:boolean',
  createNewStickerSet:
    'user_id:number! name:string! title:string! stickers:json! sticker_type:string needs_repainting:boolean',
  declineChatJoinRequest: 'chat_id:chat! user_id:number!',
  declineSuggestedPost: 'chat_id:number! message_id:number! comment:string',
  deleteAllMessageReactions: 'chat_id:chat! user_id:number actor_chat_id:number',
  deleteBusinessMessages: 'business_connection_id:string! message_ids:json!',
  deleteChatPhoto: 'chat_id:chat!',
  deleteChatStickerSet: 'chat_id:chat!',
  deleteEphemeralMessage: 'chat_id:chat! receiver_user_id:number! ephemeral_message_id:number!',
  deleteForumTopic: 'chat_id:chat! message_thread_id:number!',
  deleteMessage: 'chat_id:chat! message_id:number!',
  deleteMessageReaction: 'chat_id:chat! message_id:number! user_id:number actor_chat_id:number',
  deleteMessages: 'chat_id:chat! message_ids:json!',
  deleteMyCommands: 'scope:json language_code:string',
  deleteStickerFromSet: 'sticker:string!',
  deleteStickerSet: 'name:string!',
  deleteStory: 'business_connection_id:string! story_id:number!',
  deleteWebhook: 'drop_pending_updates:boolean',
  editChatInviteLink:
    'chat_id:chat! invite_link:string! name:string expire_date:number member_limit:number creates_join_request:boolean',
  editChatSubscriptionInviteLink: 'chat_id:chat! invite_link:string! name:string',
  editEphemeralMessageCaption:
    'chat_id:chat! receiver_user_id:number! ephemeral_message_id:number! caption:string parse_mode:string caption_entities:json show_caption_above_media:boolean reply_markup:json',
  editEphemeralMessageMedia:
    'chat_id:chat! receiver_user_id:number! ephemeral_message_id:number! media:json! reply_markup:json',
  editEphemeralMessageReplyMarkup:
    'chat_id:chat! receiver_user_id:number! ephemeral_message_id:number! reply_markup:json',
  editEphemeralMessageText:
    'chat_id:chat! receiver_user_id:number! ephemeral_message_id:number! text:string parse_mode:string entities:json rich_message:json link_preview_options:json reply_markup:json',
  editForumTopic: 'chat_id:chat! message_thread_id:number! name:string icon_custom_emoji_id:string',
  editGeneralForumTopic: 'chat_id:chat! name:string!',
  editMessageCaption:
    'business_connection_id:string chat_id:chat message_id:number inline_message_id:string caption:string parse_mode:string caption_entities:json show_caption_above_media:boolean reply_markup:json',
  editMessageChecklist:
    'business_connection_id:string! chat_id:chat! message_id:number! checklist:json! reply_markup:json',
  editMessageLiveLocation:
    'business_connection_id:string chat_id:chat message_id:number inline_message_id:string latitude:number! longitude:number! live_period:number horizontal_accuracy:number heading:number proximity_alert_radius:number reply_markup:json',
  editMessageMedia:
    'business_connection_id:string chat_id:chat message_id:number inline_message_id:string media:json! reply_markup:json',
  editMessageReplyMarkup:
    'business_connection_id:string chat_id:chat message_id:number inline_message_id:string reply_markup:json',
  editMessageText:
    'business_connection_id:string chat_id:chat message_id:number inline_message_id:string text:string parse_mode:string entities:json link_preview_options:json rich_message:json reply_markup:json',
  editStory:
    'business_connection_id:string! story_id:number! content:json! caption:string parse_mode:string caption_entities:json areas:json',
  editUserStarSubscription:
    'user_id:number! telegram_payment_charge_id:string! is_canceled:boolean!',
  exportChatInviteLink: 'chat_id:chat!',
  forwardMessage:
    'chat_id:chat! message_thread_id:number direct_messages_topic_id:number from_chat_id:chat! video_start_timestamp:number disable_notification:boolean protect_content:boolean message_effect_id:string suggested_post_parameters:json message_id:number!',
  forwardMessages:
    'chat_id:chat! message_thread_id:number direct_messages_topic_id:number from_chat_id:chat! message_ids:json! disable_notification:boolean protect_content:boolean',
  getAvailableGifts: '',
  getBusinessAccountGifts:
    'business_connection_id:string! exclude_unsaved:boolean exclude_saved:boolean exclude_unlimited:boolean exclude_limited_upgradable:boolean exclude_limited_non_upgradable:boolean exclude_unique:boolean exclude_from_blockchain:boolean sort_by_price:boolean offset:string limit:number',
  getBusinessAccountStarBalance: 'business_connection_id:string!',
  getBusinessConnection: 'business_connection_id:string!',
  getChat: 'chat_id:chat!',
  getChatAdministrators: 'chat_id:chat! return_bots:boolean',
  getChatGifts:
    'chat_id:chat! exclude_unsaved:boolean exclude_saved:boolean exclude_unlimited:boolean exclude_limited_upgradable:boolean exclude_limited_non_upgradable:boolean exclude_from_blockchain:boolean exclude_unique:boolean sort_by_price:boolean offset:string limit:number',
  getChatMember: 'chat_id:chat! user_id:number!',
  getChatMemberCount: 'chat_id:chat!',
  getChatMenuButton: 'chat_id:number',
  getCustomEmojiStickers: 'custom_emoji_ids:json!',
  getFile: 'file_id:string!',
  getForumTopicIconStickers: '',
  getGameHighScores: 'user_id:number! chat_id:number message_id:number inline_message_id:string',
  getManagedBotAccessSettings: 'user_id:number!',
  getManagedBotToken: 'user_id:number!',
  getMe: '',
  getMyCommands: 'scope:json language_code:string',
  getMyDefaultAdministratorRights: 'for_channels:boolean',
  getMyDescription: 'language_code:string',
  getMyName: 'language_code:string',
  getMyShortDescription: 'language_code:string',
  getMyStarBalance: '',
  getStarTransactions: 'offset:number limit:number',
  getStickerSet: 'name:string!',
  getUpdates: 'offset:number limit:number timeout:number allowed_updates:json',
  getUserChatBoosts: 'chat_id:chat! user_id:number!',
  getUserGifts:
    'user_id:number! exclude_unlimited:boolean exclude_limited_upgradable:boolean exclude_limited_non_upgradable:boolean exclude_from_blockchain:boolean exclude_unique:boolean sort_by_price:boolean offset:string limit:number',
  getUserPersonalChatMessages: 'user_id:number! limit:number!',
  getUserProfileAudios: 'user_id:number! offset:number limit:number',
  getUserProfilePhotos: 'user_id:number! offset:number limit:number',
  getWebhookInfo: '',
  giftPremiumSubscription:
    'user_id:number! month_count:number! star_count:number! text:string text_parse_mode:string text_entities:json',
  hideGeneralForumTopic: 'chat_id:chat!',
  leaveChat: 'chat_id:chat!',
  logOut: '',
  pinChatMessage:
    'business_connection_id:string chat_id:chat! message_id:number! disable_notification:boolean',
  postStory:
    'business_connection_id:string! content:json! active_period:number! caption:string parse_mode:string caption_entities:json areas:json post_to_chat_page:boolean protect_content:boolean',
  promoteChatMember:
    'chat_id:chat! user_id:number! is_anonymous:boolean can_manage_chat:boolean can_delete_messages:boolean can_manage_video_chats:boolean can_restrict_members:boolean can_promote_members:boolean can_change_info:boolean can_invite_users:boolean can_post_stories:boolean can_edit_stories:boolean can_delete_stories:boolean can_post_messages:boolean can_edit_messages:boolean can_pin_messages:boolean can_manage_topics:boolean can_manage_direct_messages:boolean can_manage_tags:boolean can_send_welcome_messages:boolean',
  readBusinessMessage: 'business_connection_id:string! chat_id:number! message_id:number!',
  refundStarPayment: 'user_id:number! telegram_payment_charge_id:string!',
  removeBusinessAccountProfilePhoto: 'business_connection_id:string! is_public:boolean',
  removeChatVerification: 'chat_id:chat!',
  removeMyProfilePhoto: '',
  removeUserVerification: 'user_id:number!',
  reopenForumTopic: 'chat_id:chat! message_thread_id:number!',
  reopenGeneralForumTopic: 'chat_id:chat!',
  replaceManagedBotToken: 'user_id:number!',
  replaceStickerInSet: 'user_id:number! name:string! old_sticker:string! sticker:json!',
  repostStory:
    'business_connection_id:string! from_chat_id:number! from_story_id:number! active_period:number! post_to_chat_page:boolean protect_content:boolean',
  restrictChatMember:
    'chat_id:chat! user_id:number! permissions:json! use_independent_chat_permissions:boolean until_date:number',
  revokeChatInviteLink: 'chat_id:chat! invite_link:string!',
  savePreparedInlineMessage:
    'user_id:number! result:json! allow_user_chats:boolean allow_bot_chats:boolean allow_group_chats:boolean allow_channel_chats:boolean',
  savePreparedKeyboardButton: 'user_id:number! button:json!',
  sendAnimation:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json animation:file! duration:number width:number height:number thumbnail:file caption:string parse_mode:string caption_entities:json show_caption_above_media:boolean has_spoiler:boolean disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendAudio:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json audio:file! caption:string parse_mode:string caption_entities:json duration:number performer:string title:string thumbnail:file disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendChatAction:
    'business_connection_id:string chat_id:chat! message_thread_id:number action:string!',
  sendChatJoinRequestWebApp: 'chat_join_request_query_id:string! web_app_url:string!',
  sendChecklist:
    'business_connection_id:string! chat_id:chat! checklist:json! disable_notification:boolean protect_content:boolean message_effect_id:string reply_parameters:json reply_markup:json',
  sendContact:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json phone_number:string! first_name:string! last_name:string vcard:string disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendDice:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number emoji:string disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendDocument:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json document:file! thumbnail:file caption:string parse_mode:string caption_entities:json disable_content_type_detection:boolean disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendGame:
    'business_connection_id:string chat_id:chat! message_thread_id:number game_short_name:string! disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string reply_parameters:json reply_markup:json',
  sendGift:
    'user_id:number chat_id:chat gift_id:string! pay_for_upgrade:boolean text:string text_parse_mode:string text_entities:json',
  sendInvoice:
    'chat_id:chat! message_thread_id:number direct_messages_topic_id:number title:string! description:string! payload:string! provider_token:string currency:string! prices:json! max_tip_amount:number suggested_tip_amounts:json start_parameter:string provider_data:string photo_url:string photo_size:number photo_width:number photo_height:number need_name:boolean need_phone_number:boolean need_email:boolean need_shipping_address:boolean send_phone_number_to_provider:boolean send_email_to_provider:boolean is_flexible:boolean disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendLivePhoto:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json live_photo:file! photo:file! caption:string parse_mode:string caption_entities:json show_caption_above_media:boolean has_spoiler:boolean disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendLocation:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json latitude:number! longitude:number! horizontal_accuracy:number live_period:number heading:number proximity_alert_radius:number disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendMediaGroup:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number media:json! disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string reply_parameters:json',
  sendMessage:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json text:string! parse_mode:string entities:json link_preview_options:json disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendMessageDraft:
    'chat_id:number! message_thread_id:number draft_id:number! text:string parse_mode:string entities:json can_stop:boolean keep_on_stop:boolean',
  sendPaidMedia:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number star_count:number! media:json! payload:string caption:string parse_mode:string caption_entities:json show_caption_above_media:boolean disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendPhoto:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json photo:file! caption:string parse_mode:string caption_entities:json show_caption_above_media:boolean has_spoiler:boolean disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendPoll:
    'business_connection_id:string chat_id:chat! message_thread_id:number question:string! question_parse_mode:string question_entities:json options:json! is_anonymous:boolean type:string allows_multiple_answers:boolean allows_revoting:boolean shuffle_options:boolean allow_adding_options:boolean hide_results_until_closes:boolean members_only:boolean country_codes:json correct_option_ids:json explanation:string explanation_parse_mode:string explanation_entities:json explanation_media:json open_period:number close_date:number is_closed:boolean description:string description_parse_mode:string description_entities:json media:json disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string reply_parameters:json reply_markup:json',
  sendRichMessage:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json rich_message:json! disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendRichMessageDraft:
    'chat_id:number! message_thread_id:number draft_id:number! rich_message:json! can_stop:boolean keep_on_stop:boolean',
  sendSticker:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json sticker:file! emoji:string disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendVenue:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json latitude:number! longitude:number! title:string! address:string! foursquare_id:string foursquare_type:string google_place_id:string google_place_type:string disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendVideo:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json video:file! duration:number width:number height:number thumbnail:file cover:file start_timestamp:number caption:string parse_mode:string caption_entities:json show_caption_above_media:boolean has_spoiler:boolean supports_streaming:boolean disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendVideoNote:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json video_note:file! duration:number length:number thumbnail:file disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  sendVoice:
    'business_connection_id:string chat_id:chat! message_thread_id:number direct_messages_topic_id:number ephemeral_message_parameters:json voice:file! caption:string parse_mode:string caption_entities:json duration:number disable_notification:boolean protect_content:boolean allow_paid_broadcast:boolean message_effect_id:string suggested_post_parameters:json reply_parameters:json reply_markup:json',
  setBusinessAccountBio: 'business_connection_id:string! bio:string',
  setBusinessAccountGiftSettings:
    'business_connection_id:string! show_gift_button:boolean! accepted_gift_types:json!',
  setBusinessAccountName: 'business_connection_id:string! first_name:string! last_name:string',
  setBusinessAccountProfilePhoto: 'business_connection_id:string! photo:json! is_public:boolean',
  setBusinessAccountUsername: 'business_connection_id:string! username:string',
  setChatAdministratorCustomTitle: 'chat_id:chat! user_id:number! custom_title:string!',
  setChatDescription: 'chat_id:chat! description:string',
  setChatMemberTag: 'chat_id:chat! user_id:number! tag:string',
  setChatMenuButton: 'chat_id:number menu_button:json',
  setChatPermissions: 'chat_id:chat! permissions:json! use_independent_chat_permissions:boolean',
  setChatPhoto: 'chat_id:chat! photo:file!',
  setChatStickerSet: 'chat_id:chat! sticker_set_name:string!',
  setChatTitle: 'chat_id:chat! title:string!',
  setCustomEmojiStickerSetThumbnail: 'name:string! custom_emoji_id:string',
  setGameScore:
    'user_id:number! score:number! force:boolean disable_edit_message:boolean chat_id:number message_id:number inline_message_id:string',
  setManagedBotAccessSettings: 'user_id:number! is_access_restricted:boolean! added_user_ids:json',
  setMessageReaction: 'chat_id:chat! message_id:number! reaction:json is_big:boolean',
  setMyCommands: 'commands:json! scope:json language_code:string',
  setMyDefaultAdministratorRights: 'rights:json for_channels:boolean',
  setMyDescription: 'description:string language_code:string',
  setMyName: 'name:string language_code:string',
  setMyProfilePhoto: 'photo:json!',
  setMyShortDescription: 'short_description:string language_code:string',
  setPassportDataErrors: 'user_id:number! errors:json!',
  setStickerEmojiList: 'sticker:string! emoji_list:json!',
  setStickerKeywords: 'sticker:string! keywords:json',
  setStickerMaskPosition: 'sticker:string! mask_position:json',
  setStickerPositionInSet: 'sticker:string! position:number!',
  setStickerSetThumbnail: 'name:string! user_id:number! thumbnail:file format:string!',
  setStickerSetTitle: 'name:string! title:string!',
  setUserEmojiStatus:
    'user_id:number! emoji_status_custom_emoji_id:string emoji_status_expiration_date:number',
  setWebhook:
    'url:string! certificate:file ip_address:string max_connections:number allowed_updates:json drop_pending_updates:boolean secret_token:string',
  stopMessageLiveLocation:
    'business_connection_id:string chat_id:chat message_id:number inline_message_id:string reply_markup:json',
  stopPoll: 'business_connection_id:string chat_id:chat! message_id:number! reply_markup:json',
  transferBusinessAccountStars: 'business_connection_id:string! star_count:number!',
  transferGift:
    'business_connection_id:string! owned_gift_id:string! new_owner_chat_id:number! star_count:number',
  unbanChatMember: 'chat_id:chat! user_id:number! only_if_banned:boolean',
  unbanChatSenderChat: 'chat_id:chat! sender_chat_id:number!',
  unhideGeneralForumTopic: 'chat_id:chat!',
  unpinAllChatMessages: 'chat_id:chat!',
  unpinAllForumTopicMessages: 'chat_id:chat! message_thread_id:number!',
  unpinAllGeneralForumTopicMessages: 'chat_id:chat!',
  unpinChatMessage: 'business_connection_id:string chat_id:chat! message_id:number',
  upgradeGift:
    'business_connection_id:string! owned_gift_id:string! keep_original_details:boolean star_count:number',
  uploadStickerFile: 'user_id:number! sticker:file! sticker_format:string!',
  verifyChat: 'chat_id:chat! custom_description:string',
  verifyUser: 'user_id:number! custom_description:string',
} as const
