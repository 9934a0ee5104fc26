/** The parameters on which it depends who sees a message, where, when, and at what price. */
export const WEIGHTY =
  /^(chat_id|from_chat_id|user_id|message_thread_id|direct_messages_topic_id|business_connection_id|inline_message_id|ephemeral_message_parameters|receiver_user_id|callback_query_id|reply_\w+|allow_paid_broadcast|allow_\w+_chats|suggested_post_parameters|message_effect_id|members_only|country_codes|hide_results_until_closes|\w+_date|\w+_period|member_limit|creates_join_request|protect_content|allowed_updates|\w*star_count|price\w*|subscription_\w+|can_(?!stop)\w+)$/
