/** What each method of the reference is called with on the sandbox, and what it answers. */
import { soundOf } from './files.ts'
import {
  file,
  fullChat,
  invite,
  member,
  message,
  poll,
  rights,
  sized,
  stickerSet,
  user,
} from './method-shapes.ts'
import type { MethodStage, Value } from './method-stage.ts'

type Given = Readonly<Record<string, unknown>>

/** What the answer looks like, and the parameters, or what makes them just before the call. */
export type MethodRow = readonly [shape: unknown, given?: Given | (() => Promise<Given>)]

export function methodRows({
  client,
  bot,
  ada,
  kim,
  joe,
  chat_id,
  forum,
  done,
  text,
  follow,
  pressed,
}: MethodStage) {
  const inGroup = { chat_id }
  const somewhere = { latitude: 1, longitude: 2 }
  const here = async () => ({ ...inGroup, message_id: await text() })
  const from = async () => ({ ...(await here()), from_chat_id: chat_id })
  const many = async () => ({
    ...inGroup,
    from_chat_id: chat_id,
    message_ids: [await text(), await text()],
  })
  const aPicture = { type: 'photo', media: 'attach://picture' }
  const aStory = {
    content: { type: 'photo', photo: 'attach://picture' },
    active_period: 86_400,
  }
  const aPoll = { ...inGroup, question: 'Tea?', options: ['yes', 'no'] }
  const sentPhoto = async () =>
    (await done('sendPhoto', { ...inGroup, photo: 'attach://picture' })) as Value
  const live = async () => ({
    ...inGroup,
    message_id: (await done('sendLocation', { ...inGroup, ...somewhere, live_period: 600 }))
      .message_id,
  })
  const link = async (more: object = {}): Promise<string> =>
    (await done('createChatInviteLink', { ...inGroup, ...more })).invite_link
  const asking = async (person: { id: number }) => {
    await follow(person, await link({ creates_join_request: true }))
    return { ...inGroup, user_id: person.id }
  }

  const topic = { name: 'Tea', icon_color: 0x6fb9f0, message_thread_id: Number }
  const aTopic = async () => {
    const { message_thread_id } = await done('createForumTopic', { chat_id: forum, name: 'Tea' })
    return { chat_id: forum, message_thread_id }
  }
  const closedTopic = async () => {
    const place = await aTopic()
    await done('closeForumTopic', place)
    return place
  }

  const rows: Readonly<Record<string, MethodRow>> = {
    getMe: [{ ...user, is_bot: true, username: String, can_join_groups: Boolean }],
    getUpdates: [Array],
    setWebhook: [true, { url: '' }],
    deleteWebhook: [true],
    getWebhookInfo: [{ url: '', has_custom_certificate: false, pending_update_count: Number }],
    sendMessage: [
      { ...message, text: 'hi' },
      { ...inGroup, text: 'hi' },
    ],
    sendPhoto: [
      { ...message, photo: [sized] },
      { ...inGroup, photo: 'attach://picture' },
    ],
    sendAudio: [
      { ...message, audio: { ...file, duration: Number } },
      { ...inGroup, audio: 'attach://song' },
    ],
    sendDocument: [
      { ...message, document: file },
      { ...inGroup, document: 'attach://song' },
    ],
    sendVideo: [
      { ...message, video: { ...sized, duration: Number } },
      { ...inGroup, video: 'attach://film' },
    ],
    sendAnimation: [
      { ...message, animation: file, document: file },
      { ...inGroup, animation: 'attach://film' },
    ],
    sendVoice: [
      { ...message, voice: { ...file, duration: Number } },
      { ...inGroup, voice: 'attach://sound' },
    ],
    sendVideoNote: [
      { ...message, video_note: { ...file, length: Number } },
      { ...inGroup, video_note: 'attach://film' },
    ],
    sendSticker: [
      { ...message, sticker: { ...sized, type: 'regular', is_animated: Boolean } },
      { ...inGroup, sticker: 'attach://picture' },
    ],
    sendMediaGroup: [
      [{ ...message, media_group_id: String }, message],
      { ...inGroup, media: [aPicture, aPicture] },
    ],
    sendLocation: [
      { ...message, location: somewhere },
      { ...inGroup, ...somewhere },
    ],
    sendVenue: [
      { ...message, venue: { location: somewhere, title: 'T', address: 'A' } },
      { ...inGroup, ...somewhere, title: 'T', address: 'A' },
    ],
    sendContact: [
      { ...message, contact: { phone_number: '+1', first_name: 'F' } },
      { ...inGroup, phone_number: '+1', first_name: 'F' },
    ],
    sendPoll: [{ ...message, poll }, aPoll],
    sendDice: [{ ...message, dice: { emoji: String, value: Number } }, inGroup],
    forwardMessage: [
      { ...message, forward_origin: { type: 'user', sender_user: user, date: Number } },
      from,
    ],
    forwardMessages: [[{ message_id: Number }, { message_id: Number }], many],
    copyMessage: [{ message_id: Number }, from],
    copyMessages: [[{ message_id: Number }, { message_id: Number }], many],
    sendChatAction: [true, { ...inGroup, action: 'typing' }],
    setMessageReaction: [
      true,
      async () => ({ ...(await here()), reaction: [{ type: 'emoji', emoji: '👍' }] }),
    ],
    deleteMessageReaction: [true, async () => ({ ...(await here()), user_id: ada.id })],
    deleteAllMessageReactions: [true, { ...inGroup, user_id: ada.id }],
    postStory: [{ chat: { id: bot.id, type: 'private' }, id: Number }, aStory],
    deleteStory: [true, async () => ({ story_id: (await done('postStory', aStory)).id })],
    editMessageText: [
      { ...message, edit_date: Number },
      async () => ({ ...(await here()), text: 'new' }),
    ],
    editMessageCaption: [
      { ...message, caption: 'c' },
      async () => ({ ...inGroup, message_id: (await sentPhoto()).message_id, caption: 'c' }),
    ],
    editMessageMedia: [
      { ...message, document: file },
      async () => ({
        ...inGroup,
        message_id: (await sentPhoto()).message_id,
        media: { type: 'document', media: 'attach://song' },
      }),
    ],
    editMessageReplyMarkup: [
      { ...message, reply_markup: { inline_keyboard: [[{ text: 'b', callback_data: 'd' }]] } },
      async () => ({
        ...(await here()),
        reply_markup: { inline_keyboard: [[{ text: 'b', callback_data: 'd' }]] },
      }),
    ],
    editMessageLiveLocation: [
      { ...message, location: { latitude: 3 } },
      async () => ({ ...(await live()), latitude: 3, longitude: 4 }),
    ],
    stopMessageLiveLocation: [{ ...message, location: somewhere }, live],
    stopPoll: [
      { ...poll, is_closed: true },
      async () => ({ ...inGroup, message_id: (await done('sendPoll', aPoll)).message_id }),
    ],
    deleteMessage: [true, here],
    deleteMessages: [true, many],
    getFile: [
      { ...file, file_path: String, file_size: Number },
      async () => ({ file_id: (await sentPhoto()).photo[0].file_id }),
    ],
    setMyProfilePhoto: [true, { photo: { type: 'static', photo: 'attach://picture' } }],
    getUserProfilePhotos: [{ total_count: 1, photos: [[sized]] }, { user_id: bot.id }],
    removeMyProfilePhoto: [true],
    getUserProfileAudios: [
      { total_count: 1, audios: [{ ...file, title: 'Polka', duration: Number }] },
      async () => {
        const song = { data: soundOf.mp3.toString('base64'), title: 'Polka' }
        await client.result('POST', `/sandbox/people/${ada.id}/audios`, song)
        return { user_id: ada.id }
      },
    ],
    getChat: [fullChat, inGroup],
    getChatAdministrators: [[{ ...member, status: 'creator', is_anonymous: false }], inGroup],
    getChatMemberCount: [Number, inGroup],
    getChatMember: [
      { ...member, status: 'member' },
      { ...inGroup, user_id: ada.id },
    ],
    setChatPhoto: [true, { ...inGroup, photo: 'attach://picture' }],
    deleteChatPhoto: [true, inGroup],
    setChatTitle: [true, { ...inGroup, title: 'Tea' }],
    setChatDescription: [true, { ...inGroup, description: 'About tea' }],
    setChatPermissions: [true, { ...inGroup, permissions: { can_send_messages: true } }],
    pinChatMessage: [true, here],
    unpinChatMessage: [true, inGroup],
    unpinAllChatMessages: [true, inGroup],
    restrictChatMember: [true, { ...inGroup, user_id: ada.id, permissions: {} }],
    promoteChatMember: [true, { ...inGroup, user_id: ada.id, can_pin_messages: true }],
    exportChatInviteLink: [String, inGroup],
    createChatInviteLink: [invite, inGroup],
    editChatInviteLink: [
      { ...invite, name: 'n' },
      async () => ({ ...inGroup, invite_link: await link(), name: 'n' }),
    ],
    revokeChatInviteLink: [
      { ...invite, is_revoked: true },
      async () => ({ ...inGroup, invite_link: await link() }),
    ],
    approveChatJoinRequest: [true, () => asking(kim)],
    declineChatJoinRequest: [true, () => asking(joe)],
    banChatMember: [true, { ...inGroup, user_id: kim.id }],
    unbanChatMember: [true, { ...inGroup, user_id: kim.id }],
    answerCallbackQuery: [true, async () => ({ callback_query_id: await pressed() })],
    createForumTopic: [topic, { chat_id: forum, name: 'Tea' }],
    editForumTopic: [true, async () => ({ ...(await aTopic()), name: 'Coffee' })],
    closeForumTopic: [true, aTopic],
    reopenForumTopic: [true, closedTopic],
    deleteForumTopic: [true, aTopic],
    getForumTopicIconStickers: [[]],
    getStickerSet: [stickerSet, { name: 'Teapots' }],
    sendMessageDraft: [true, { chat_id: ada.id, draft_id: 1, text: 'hi' }],
    setMyCommands: [true, { commands: [{ command: 'go', description: 'Goes' }] }],
    getMyCommands: [[{ command: 'go', description: 'Goes' }]],
    deleteMyCommands: [true],
    setMyName: [true, { name: 'Bot' }],
    getMyName: [{ name: 'Bot' }],
    setMyDescription: [true, { description: 'd' }],
    getMyDescription: [{ description: 'd' }, { language_code: 'fa' }],
    setMyShortDescription: [true, { short_description: 's' }],
    getMyShortDescription: [{ short_description: 's' }],
    setChatMenuButton: [true, { menu_button: { type: 'commands' }, chat_id: ada.id }],
    getChatMenuButton: [{ type: 'commands' }, { chat_id: ada.id }],
    setMyDefaultAdministratorRights: [true, { rights: { can_pin_messages: true } }],
    getMyDefaultAdministratorRights: [rights],
    getCustomEmojiStickers: [[], { custom_emoji_ids: [] }],
    leaveChat: [true, inGroup],
    close: [true],
    logOut: [true],
  }
  return rows
}
