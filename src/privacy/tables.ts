/** Every table with rows of a user: how to find them, the order of their deletion, and the columns of an export. */

export interface PersonalTable {
  readonly name: string
  /** The id that finds its rows: that of a linked account, or that of the user. */
  readonly of: 'user' | 'credential'
  /** In SQL; $1 is that id. */
  readonly where: string
  /** The columns that tell its rows apart, in the order in which they are exported. */
  readonly key: readonly string[]
  /** Columns that an export leaves out: hashes, sealed secrets, and what only the service understands. */
  readonly omit?: readonly string[]
  /** Belongs to the account on its network and goes with it, even if the user stays. */
  readonly endsWithAccount?: true
}

const ofCredential = (name: string, key: string) =>
  ({
    name,
    of: 'credential',
    where: 'credential_id = $1',
    key: ['credential_id', ...key.split(' ').filter(Boolean)],
  }) satisfies PersonalTable

const ofAccount = (name: string, key: string, more: Partial<PersonalTable> = {}) =>
  ({ ...ofCredential(name, key), endsWithAccount: true, ...more }) satisfies PersonalTable

const ofUser = (
  name: string,
  key: string,
  where = 'user_id = $1',
  more: Partial<PersonalTable> = {},
) => ({ name, of: 'user', where, key: key.split(' '), ...more }) satisfies PersonalTable

const amongThose = (column: string, table: string, id = 'id') =>
  `${column} in (select ${id} from ${table} where user_id = $1)`
const ofKeys = amongThose('api_key_id', 'api_key')
const ofPeople = amongThose('person_id', 'sandbox_person')
const ofChats = amongThose('chat_id', 'sandbox_chat')

/** Tables come after those that reference them. */
export const personalTables: readonly PersonalTable[] = [
  ofAccount('update_log', 'update_id'),
  ofAccount('update_block', 'block kind api_key_id'),
  ofAccount('message_identity', 'chat_id message_id'),
  ofAccount('chat_identity', 'native'),
  ofAccount('bot_profile', 'name'),
  ofAccount('media_path', 'path'),
  ofAccount('media_path_count', ''),
  ofAccount('telegram_message', 'message_id'),
  ofAccount('telegram_reference', 'peer_id'),
  ofAccount('telegram_peer', 'id', { omit: ['access_hash', 'complete'] }),
  ofAccount('xmpp_room', 'room', { omit: ['password'] }),
  ofAccount('diagnosis', 'id'),
  ofUser('link_page', 'session_id', amongThose('session_id', 'link_session'), { omit: ['hash'] }),
  ofUser('link_session', 'id', undefined, { omit: ['stored', 'target'] }),
  ofUser('webhook', 'api_key_id', ofKeys, { omit: ['sealed'] }),
  ofUser('webhook_secret', 'api_key_id', ofKeys, { omit: ['sealed'] }),
  ofUser('webhook_delivery', 'at id'),
  ofUser('webhook_exchange', 'at api_key_id update_id attempt', undefined, { omit: ['sealed'] }),
  ofUser('call_exchange', 'at api_key_id request_id', undefined, { omit: ['sealed'] }),
  ofUser('request_log', 'at id'),
  ofUser('audit_log', 'id'),
  ofUser('usage_hour', 'hour credential_id api_key_id measure label'),
  ofUser('usage_total', 'hour measure label'),
  ofAccount('incident_account', ''),
  ofUser('alert_notification', 'id'),
  ofUser('alert_setting', 'user_id', undefined, { omit: ['sealed'] }),
  ofUser('incident', 'id'),
  ofUser('saved_view', 'id', undefined, { omit: ['sealed'] }),
  ofUser('relink_page', 'action_id position', undefined, { omit: ['hash', 'sealed'] }),
  ofUser('bulk_item', 'action_id position', amongThose('action_id', 'bulk_action')),
  ofUser('bulk_action', 'id'),
  ofUser('idempotent_call', 'api_key_id key', ofKeys),
  ofUser(
    'key_holder',
    'api_key_id user_id',
    `(api_key_id, user_id) in (select api_key_id, user_id from key_holder where user_id = $1
      union all select api_key_id, user_id from key_holder where ${ofKeys})`,
  ),
  ofUser('api_key', 'id', undefined, { omit: ['secret_hash', 'old_secret_hash'] }),
  ofCredential('credential_transition', 'id'),
  ofCredential('credential_log', ''),

  ofUser(
    'sandbox_vote',
    'poll_id person_id',
    `poll_id in (select id from sandbox_poll where ${amongThose('owner_id', 'sandbox_person')})`,
  ),
  ofUser('sandbox_poll', 'id', amongThose('owner_id', 'sandbox_person')),
  ofUser('sandbox_reaction', 'chat_id message_id person_id', ofChats),
  ofUser('sandbox_pin', 'chat_id message_id', ofChats),
  ofUser('sandbox_suggested_post', 'chat_id message_id', ofChats),
  ofUser('sandbox_ephemeral', 'ephemeral_id', ofChats),
  ofUser('sandbox_draft', 'chat_id person_id draft', ofChats),
  ofUser('sandbox_typing', 'chat_id person_id', ofChats),
  ofUser('sandbox_topic', 'chat_id id', ofChats),
  ofUser('sandbox_star_entry', 'id', ofPeople),
  ofUser('sandbox_owned_gift', 'id', `${ofPeople} or ${ofChats}`),
  ofUser('sandbox_gift', 'id'),
  ofUser('sandbox_business', 'id', ofPeople),
  ofUser('sandbox_sender_ban', 'chat_id sender_id', ofChats),
  ofUser('sandbox_boost', 'id', ofChats),
  ofUser('sandbox_join_request', 'chat_id person_id', ofChats),
  ofUser('sandbox_member', 'chat_id person_id', ofChats),
  ofUser('sandbox_invite', 'link', ofChats),
  ofUser('sandbox_message', 'chat_id id', ofChats),
  ofUser('sandbox_block', 'person_id blocked_id', ofPeople),
  ofUser('sandbox_callback', 'id', `${ofPeople} or ${amongThose('owner_id', 'sandbox_person')}`),
  ofUser('sandbox_game_score', 'chat_id bot_id game person_id', ofChats),
  ofUser('sandbox_inline_query', 'id', ofPeople),
  ofUser('sandbox_prepared_message', 'id', ofPeople),
  ofUser('sandbox_web_app', 'id', ofPeople),
  ofUser('sandbox_payment', 'id', ofPeople),
  ofUser('sandbox_paid_media', 'id', amongThose('seller_id', 'sandbox_person')),
  ofUser('sandbox_invoice', 'slug', amongThose('bot_id', 'sandbox_person')),
  ofUser('sandbox_prepared_key', 'id', ofPeople),
  ofUser('sandbox_managed_bot', 'bot_id', amongThose('bot_id', 'sandbox_person'), {
    omit: ['token'],
  }),
  ofUser('sandbox_passport_error', 'person_id bot_id', ofPeople),
  ofUser('sandbox_challenge', 'id', ofPeople, { omit: ['code'] }),
  ofUser('sandbox_session', 'id', ofPeople, { omit: ['token_hash'] }),
  ofUser('sandbox_event', 'person_id seq', ofPeople),
  ofUser('sandbox_story', 'person_id id', ofPeople),
  ofUser('sandbox_photo', 'id', ofPeople),
  ofUser('sandbox_audio', 'id', ofPeople),
  ofUser('sandbox_file', 'native kind'),
  ofUser('sandbox_sticker_set', 'name'),
  ofUser('sandbox_community', 'id'),
  ofUser('sandbox_chat', 'id'),
  ofUser('sandbox_person', 'id', undefined, { omit: ['password_hash'] }),

  ofUser('media_hold', 'blob holder', amongThose('blob', 'media_blob', 'blob')),
  ofUser('media_blob', 'blob', undefined, { omit: ['object', 'sealed_key'] }),
  ofUser('media_usage', 'user_id'),
  // Either user ends it, and an invitation goes with whom it waits for.
  ofUser(
    'account_share',
    'id',
    `id in (select id from account_share where owner_id = $1
      union all select id from account_share where user_id = $1
      union all select id from account_share where user_id is null
        and phone_index = (select phone_index from app_user where id = $1))`,
    { omit: ['phone_index', 'phone_sealed'] },
  ),
  // It outlives the account: what a deletion has left on the network is signed out later.
  ofUser('pending_sign_out', 'id', undefined, { omit: ['secrets'] }),
  ofUser('credential', 'id', undefined, {
    omit: ['native_id', 'account_sealed', 'identity_at', 'secrets'],
  }),
  ofUser('unmasking', 'id'),
  ofUser('personal_token', 'id', undefined, { omit: ['hash'] }),
  ofUser('refresh_token', 'created_at hash', amongThose('session_id', 'user_session'), {
    omit: ['hash'],
  }),
  ofUser('user_session', 'id'),
  ofUser('otp_challenge', 'id', `phone_index = (select phone_index from app_user where id = $1)`, {
    omit: ['phone_index', 'id', 'code_mac', 'message_sealed'],
  }),
  ofUser(
    'otp_failures',
    'requester',
    `phone_index = (select phone_index from app_user where id = $1)`,
    { omit: ['phone_index'] },
  ),
  ofUser('app_user', 'id', 'id = $1', { omit: ['phone_index', 'phone_sealed'] }),
]
