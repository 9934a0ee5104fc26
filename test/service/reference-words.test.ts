/** Refusals in the words of the reference's server, as the suites of other libraries met them there. */
import t, { type Test } from 'tap'
import { refused, scene } from './scene.ts'

type Row = readonly [method: string, parameters: object, description: string]

/** Ada owns a forum and a channel, which the bot administers with these rights. */
async function stage(t: Test, name: string, rights?: readonly string[]) {
  const account = await scene(t)
  const { client, bot, ada, key } = account
  const made = { owner: ada.id, title: name }
  const group = (
    await client.result('POST', '/sandbox/chats', { kind: 'supergroup', is_forum: true, ...made })
  ).id
  const channel = (await client.result('POST', '/sandbox/chats', { kind: 'channel', ...made })).id
  for (const chat of [group, channel]) {
    const member = { role: 'admin', ...(rights && { rights }) }
    await client.result('PUT', `/sandbox/chats/${chat}/members/${bot.id}`, member)
  }
  await client.result('POST', `/sandbox/people/${ada.id}/messages`, { to: bot.id, text: 'hi' })
  const call = (method: string, parameters: object) => client.bot(key, method, parameters)
  const refuse = async (rows: readonly Row[]) => {
    for (const [method, parameters, description] of rows) {
      const answer = await call(method, parameters)
      const asked = `${method} ${JSON.stringify(parameters).slice(0, 200)}`
      t.match(answer, refused(400, `Bad Request: ${description}`), asked)
    }
  }
  return { ...account, group, channel, call, refuse }
}

t.test('what is missing is named in the order and the words of the reference', async (t) => {
  const { ada, group, refuse } = await stage(t, 'missing')
  const chat = { chat_id: ada.id }
  const invalid = 'invalid user_id specified'
  const from = 'parameter "from_chat_id" is required'
  await refuse([
    ['copyMessage', { ...chat, message_id: 1 }, from],
    ['copyMessages', { ...chat, message_ids: [1] }, from],
    ['forwardMessage', { ...chat, message_id: 1 }, from],
    ['forwardMessages', { ...chat, message_ids: [1] }, from],
    ['repostStory', {}, from],
    ['approveChatJoinRequest', {}, invalid],
    ['declineChatJoinRequest', {}, invalid],
    ['setChatMemberTag', {}, invalid],
    ['getUserPersonalChatMessages', {}, invalid],
    ['getUserPersonalChatMessages', { user_id: ada.id, limit: 0 }, 'limit must be positive'],
    ['deleteBusinessMessages', {}, 'message identifiers are not specified'],
    ['readBusinessMessage', {}, 'chat identifier is empty'],
    ['transferGift', {}, 'chat identifier is empty'],
    ['transferBusinessAccountStars', {}, 'business connection not found'],
    ['setBusinessAccountName', {}, 'parameter "first_name" is required'],
    ['setBusinessAccountGiftSettings', {}, "accepted gift types aren't specified"],
    ['setBusinessAccountProfilePhoto', {}, "photo isn't specified"],
    ['setMyProfilePhoto', {}, "photo isn't specified"],
    ['repostStory', { from_chat_id: group, from_story_id: 1 }, 'business connection not found'],
    ['sendChecklist', chat, 'parameter "checklist" is required'],
    ['sendMediaGroup', chat, 'parameter "media" is required'],
    ['sendPaidMedia', chat, 'parameter "media" is required'],
    ['sendLivePhoto', chat, 'there is no live photo in the request'],
    ['setChatPhoto', chat, 'there is no photo in the request'],
    ['sendPoll', { ...chat, options: ['A', 'B'] }, 'text must be non-empty'],
    [
      'sendPoll',
      { ...chat, question: 'Q?', options: [] },
      'poll must have at least one answer option',
    ],
    ['sendMessageDraft', chat, 'RANDOM_ID_INVALID'],
    ['setChatTitle', { chat_id: group }, 'title must be non-empty'],
    ['setChatStickerSet', { chat_id: group, sticker_set_name: '' }, 'sticker_set_name is empty'],
    ['setChatStickerSet', { chat_id: group, sticker_set_name: 'Nobodys' }, 'sticker set not found'],
    ['getChatMenuButton', { chat_id: 0 }, 'invalid chat_id specified'],
    ['removeChatVerification', { chat_id: 0 }, 'invalid chat identifier specified'],
    ['setMyName', {}, 'BOT_TITLE_INVALID'],
    ['setMyDescription', { description: 'x'.repeat(513) }, 'BOT_DESC_INVALID'],
    ['setMyShortDescription', { short_description: 'x'.repeat(121) }, 'BOT_SHARETEXT_INVALID'],
  ])
})

t.test('what cannot be parsed is refused in the words of the reference', async (t) => {
  const { ada, refuse } = await stage(t, 'parsed')
  const chat = { chat_id: ada.id, text: 'test' }
  const start = { command: 'start', description: 'Start' }
  const marked = (reply_markup: object, description: string): Row => [
    'sendMessage',
    { ...chat, reply_markup },
    description,
  ]
  const pressed = (button: object, problem: string) =>
    marked({ inline_keyboard: [[{ text: 'b', ...button }]] }, problem)
  const parsing = "can't parse inline keyboard button: "
  const scope = "can't parse BotCommandScope: "
  const command = "can't parse BotCommand: "
  await refuse([
    ['setMyCommands', { commands: [{ ...start, command: '' }] }, 'command must be non-empty'],
    [
      'setMyCommands',
      { commands: [{ ...start, description: '' }] },
      'command description must be non-empty',
    ],
    ['setMyCommands', { commands: ['start'] }, `${command}expected an Object`],
    ['setMyCommands', { commands: [{}] }, `${command}Can't find field "command"`],
    [
      'setMyCommands',
      { commands: [{ command: 'start', description: null }] },
      `${command}Field "description" must be of type String`,
    ],
    ['getMyCommands', { scope: [] }, `${scope}BotCommandScope must be an Object`],
    ['getMyCommands', { scope: {} }, `${scope}Can't find field "type"`],
    ['getMyCommands', { scope: { type: 'chat' } }, `${scope}Can't find field "chat_id"`],
    [
      'getMyCommands',
      { scope: { type: 'chat_member', chat_id: ada.id } },
      `${scope}Can't find field "user_id"`,
    ],
    ['deleteMyCommands', { scope: { type: 'any' } }, `${scope}Unsupported type specified`],
    [
      'setChatMenuButton',
      { menu_button: { type: 'any' } },
      "can't parse menu button: MenuButton has unsupported type",
    ],
    [
      'setChatMenuButton',
      { menu_button: { type: ['default'] } },
      "can't parse menu button: MenuButton has unsupported type",
    ],
    [
      'setMyDefaultAdministratorRights',
      { rights: { can_delete_messages: 'bad' } },
      'can\'t parse ChatAdministratorRights: Field "can_delete_messages" must be of type Boolean',
    ],
    [
      'sendMessage',
      { ...chat, reply_parameters: { quote: 'hello' } },
      'can\'t find field "message_id"',
    ],
    marked({ inline_keyboard: 'bad' }, 'field "inline_keyboard" must be of type Array'),
    marked({ keyboard: 'bad' }, 'field "keyboard" must be of type Array'),
    marked({ inline_keyboard: [[{ callback_data: 'x' }]] }, `${parsing}Can't find field "text"`),
    pressed({ callback_data: '' }, `${parsing}Text buttons are unallowed in the inline keyboard`),
    pressed(
      { url: 'not-a-url' },
      "inline keyboard button URL 'not-a-url' is invalid: Wrong HTTP URL",
    ),
    pressed(
      { url: 'ftp://example.com' },
      "inline keyboard button URL 'ftp://example.com' is invalid: Unsupported URL protocol",
    ),
    pressed(
      { web_app: { url: 'bad' } },
      "inline keyboard button Web App URL 'bad' is invalid: Only HTTPS links are allowed",
    ),
    pressed(
      { switch_inline_query_chosen_chat: { allow_user_chats: 'yes' } },
      `${parsing}Field "allow_user_chats" must be of type Boolean`,
    ),
    pressed(
      { login_url: { url: 'https://example.com', request_write_access: 'yes' } },
      `${parsing}Field "request_write_access" must be of type Boolean`,
    ),
    marked(
      { keyboard: [[{ text: 'k', request_chat: { chat_is_channel: true } }]] },
      'can\'t parse keyboard button: Can\'t find field "request_id"',
    ),
    marked(
      { keyboard: [[{ text: 'k', request_chat: { request_id: 1, chat_is_forum: 'yes' } }]] },
      'can\'t parse keyboard button: Field "chat_is_forum" must be of type Boolean',
    ),
    marked(
      { keyboard: [[{ text: 'k', request_users: { request_id: 1, max_quantity: 999 } }]] },
      'BUTTON_QUANTITY_MAX_INVALID',
    ),
    ...[{}, { url: ['https://example.com'] }].map((web_app) =>
      marked(
        { keyboard: [[{ text: 'k', web_app }]] },
        'can\'t parse keyboard button: Can\'t find field "url"',
      ),
    ),
    marked(
      { keyboard: [[{ text: 'k', web_app: { url: 'http://example.com' } }]] },
      "keyboard button Web App URL 'http://example.com' is invalid: Only HTTPS links are allowed",
    ),
    [
      'sendMessage',
      { ...chat, suggested_post_parameters: {} },
      'suggested posts can be sent only to channel direct messages',
    ],
    [
      'sendMessage',
      { ...chat, suggested_post_parameters: { price: { currency: 'XTR', amount: 1 } } },
      'invalid amount of Telegram Stars specified',
    ],
    [
      'sendMessage',
      { ...chat, suggested_post_parameters: { price: { currency: 'XTR', amount: [50] } } },
      'invalid amount of Telegram Stars specified',
    ],
    ['sendMessage', { ...chat, link_preview_options: { url: 'not-a-url' } }, 'WEBPAGE_URL_INVALID'],
    ['sendMessage', { ...chat, message_effect_id: '9999999999999999999' }, 'EFFECT_ID_INVALID'],
    [
      'sendMessage',
      {
        ...chat,
        entities: [{ type: 'text_mention', offset: 0, length: 4, user: { id: 0 } }],
      },
      'user not found',
    ],
    [
      'sendVideo',
      { chat_id: ada.id, video: 'invalid-file-id' },
      'wrong remote file identifier specified: Wrong padding in the string',
    ],
    [
      'setPassportDataErrors',
      {
        user_id: ada.id,
        errors: [
          {
            ...{ source: 'data', type: 'passport', field_name: 'name', message: 'm' },
            data_hash: '78EJbNOmoK3Axtg7yzA9cA==',
          },
        ],
      },
      'DATA_HASH_SIZE_INVALID',
    ],
    [
      'answerShippingQuery',
      { shipping_query_id: 'any', ok: true, shipping_options: [] },
      'there must be at least one shipping option',
    ],
  ])
})

t.test('what a chat does not allow is refused in the words of the reference', async (t) => {
  const { ada, bot, group, channel, call, refuse } = await stage(t, 'allowed')
  const chat = { chat_id: ada.id }
  const stranger = { chat_id: group, user_id: 999_999_999 }
  const link = { subscription_period: 2_592_000, subscription_price: 100 }
  const priced = 'createChatSubscriptionInviteLink'
  const alone = "can't invite members to a private chat"
  const absent = 'PARTICIPANT_ID_INVALID'
  await refuse([
    ['createChatInviteLink', chat, alone],
    ['exportChatInviteLink', chat, alone],
    [priced, { ...chat, ...link }, alone],
    [priced, { chat_id: group, ...link }, 'PRICING_CHAT_INVALID'],
    ['leaveChat', chat, "chat member status can't be changed in private chats"],
    ['getChatMember', { ...chat, user_id: 999_999_999 }, 'member not found'],
    ['getChatMember', stranger, absent],
    ['banChatMember', stranger, absent],
    ['unbanChatMember', stranger, absent],
    ['restrictChatMember', { ...stranger, permissions: {} }, absent],
    ['setChatAdministratorCustomTitle', { ...stranger, custom_title: 'T' }, absent],
    ['getUserChatBoosts', { ...chat, user_id: bot.id }, 'PEER_ID_INVALID'],
    [
      'copyMessages',
      { ...chat, from_chat_id: ada.id, message_ids: [99_999] },
      'there are no messages to forward',
    ],
    ['banChatSenderChat', { chat_id: group, sender_chat_id: ada.id }, "can't remove chat owner"],
    ['unbanChatSenderChat', { chat_id: group, sender_chat_id: ada.id }, "can't remove chat owner"],
    ['unbanChatMember', { chat_id: channel, user_id: ada.id }, "can't remove chat owner"],
    [
      'refundStarPayment',
      { user_id: ada.id, telegram_payment_charge_id: 'any' },
      'CHARGE_ID_EMPTY',
    ],
  ])
  const owner = { chat_id: channel, user_id: ada.id, only_if_banned: true }
  t.match(await call('unbanChatMember', owner), { body: { result: true } })
})

t.test('an administrator without a right is refused in the words of the reference', async (t) => {
  const { group, ada, call, refuse } = await stage(t, 'rights', ['manage_chat', 'change_info'])
  const chat = { chat_id: group }
  const few = 'not enough rights to close or open the topic'
  await refuse([
    ['closeGeneralForumTopic', chat, 'CHAT_ADMIN_REQUIRED'],
    ['reopenGeneralForumTopic', chat, 'CHAT_ADMIN_REQUIRED'],
    ['editGeneralForumTopic', { ...chat, name: 'G' }, 'CHAT_ADMIN_REQUIRED'],
    ['hideGeneralForumTopic', chat, few],
    ['unhideGeneralForumTopic', chat, few],
  ])
  const right = "Forbidden: not enough rights to change the user's emoji status"
  t.match(await call('setUserEmojiStatus', { user_id: ada.id }), refused(403, right))
})

t.test('a token that is none is told so, and any other that is wrong is not', async (t) => {
  const { client } = await stage(t, 'tokens')
  const wrong = 'Unauthorized: invalid token specified'
  for (const token of ['000:invalid_token', 'nocolon', `1:${'x'.repeat(79)}`]) {
    t.match(await client.bot(token, 'getMe'), refused(401, wrong), token)
  }
  for (const token of ['123456:ABC', `12345:${'x'.repeat(43)}`]) {
    t.match(await client.bot(token, 'getMe'), refused(401, 'Unauthorized'), token)
  }
})

t.test('a group has gifts to list, though none', async (t) => {
  const { group, call } = await stage(t, 'gifts')
  const { body } = await call('getChatGifts', { chat_id: group })
  t.match(body.result, { total_count: 0, gifts: { length: 0 } })
})

t.test('a person can be banned and let back by the name of a sender', async (t) => {
  const { client, group, call } = await stage(t, 'senders')
  const kim = await client.person('Kim')
  await client.result('PUT', `/sandbox/chats/${group}/members/${kim.id}`, {})
  const sender = { chat_id: group, sender_chat_id: kim.id }
  const status = async () =>
    (await call('getChatMember', { chat_id: group, user_id: kim.id })).body.result.status
  t.match(await call('banChatSenderChat', sender), { body: { result: true } })
  t.equal(await status(), 'kicked')
  t.match(await call('unbanChatSenderChat', sender), { body: { result: true } })
  t.equal(await status(), 'left')
  const unknown = { chat_id: group, sender_chat_id: 1000 }
  t.match(await call('unbanChatSenderChat', unknown), { body: { result: true } })
  t.match(
    await call('banChatSenderChat', unknown),
    refused(400, 'Bad Request: PARTICIPANT_ID_INVALID'),
  )
})

t.test('a chat that does not exist is the reason, whatever is asked of it', async (t) => {
  const { ada, refuse } = await stage(t, 'nowhere')
  const chat_id = ada.id
  const many = { message_ids: [1, 2] }
  const one = { message_id: 1, text: 'x' }
  const asked: Readonly<Record<string, object>> = {
    editMessageText: one,
    deleteMessage: one,
    deleteMessages: many,
    stopPoll: one,
    setMessageReaction: one,
    setGameScore: { ...one, user_id: chat_id, score: 1 },
    getChatGifts: {},
    verifyChat: {},
    removeChatVerification: {},
    sendGift: { gift_id: '1' },
  }
  const unknown = [999_999_999, -999_999_999, -1_009_999_999_999, '@nobody_is_here']
  for (const missing of unknown) {
    for (const [name, more] of Object.entries(asked)) {
      await refuse([[name, { ...more, chat_id: missing }, 'chat not found']])
    }
    for (const name of ['forwardMessage', 'copyMessage', 'forwardMessages', 'copyMessages']) {
      await refuse([[name, { ...many, ...one, chat_id, from_chat_id: missing }, 'chat not found']])
    }
  }
  const nobody = { user_id: 999_999_999 }
  await refuse([
    ['deleteMessage', { ...one, chat_id, message_id: 999_999 }, 'message to delete not found'],
    ['editMessageText', { ...one, chat_id, message_id: 999_999 }, 'message to edit not found'],
    ['getUserGifts', nobody, 'user not found'],
    ['verifyUser', nobody, 'user not found'],
    ['removeUserVerification', nobody, 'user not found'],
    ['sendGift', { ...nobody, gift_id: '1' }, 'user not found'],
  ])
})
