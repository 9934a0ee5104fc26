/** Steps: passing messages on, groups with their members, invitations, topics, and the bot's own settings. */
import { expect } from '../includes.ts'
import type { Stage } from '../stage.ts'
import type { Step } from './step.ts'

const follow = (stage: Stage, invite_link: string) =>
  stage.account.client.result('POST', `/sandbox/people/${stage.account.kim.id}/follow`, {
    invite_link,
  })

export const chatSteps: readonly Step[] = [
  [
    'forward and copy',
    async (stage) => {
      const { ada } = stage.account
      const { message_id } = await stage.write('pass this on')
      const from = { from_chat_id: ada.id, message_id }
      const origin = { type: 'user', sender_user: { id: ada.id } }
      const passed = await stage.send('forwardMessage', from)
      expect(passed, { text: 'pass this on', forward_origin: origin })
      const copied = await stage.send('copyMessage', from)
      await stage.sees({ message_id: Number(copied.message_id ?? copied), text: 'pass this on' })
    },
  ],
  [
    'pin and unpin',
    async (stage) => {
      const chat_id = await stage.group()
      const { message_id } = await stage.call('sendMessage', { chat_id, text: 'pin me' })
      expect(await stage.call('pinChatMessage', { chat_id, message_id }), true)
      const { pinned_message } = await stage.call('getChat', { chat_id })
      expect(pinned_message, { message_id, text: 'pin me' })
      expect(await stage.call('unpinChatMessage', { chat_id, message_id }), true)
    },
  ],
  [
    'chat and members',
    async (stage) => {
      const { me, ada } = stage.account
      const chat_id = await stage.group()
      const wanted = { id: chat_id, type: 'supergroup', title: 'Group' }
      expect(await stage.call('getChat', { chat_id }), wanted)
      expect(await stage.call('getChatMemberCount', { chat_id }), 2)
      const member = await stage.call('getChatMember', { chat_id, user_id: ada.id })
      expect(member, { status: 'member', user: { id: ada.id } })
      const owner = { status: 'creator', user: { id: me.id } }
      expect(await stage.call('getChatAdministrators', { chat_id }), [owner])
    },
  ],
  [
    'group text heard and answered',
    async (stage) => {
      const chat_id = await stage.group()
      const { message_id } = await stage.asAda('POST', '/messages', { to: chat_id, text: 'all!' })
      await stage.bot.hears({
        message: { text: 'all!', chat: { id: chat_id, type: 'supergroup' } },
      })
      const reply = { chat_id, text: 'here', reply_parameters: { message_id } }
      expect(await stage.call('sendMessage', reply), { reply_to_message: { message_id } })
    },
  ],
  [
    'promote, restrict, ban',
    async (stage) => {
      const { kim } = stage.account
      const chat_id = await stage.newGroup({ title: 'Order', members: [kim.id] })
      const of = { chat_id, user_id: kim.id }
      const status = async () => (await stage.call('getChatMember', of)).status
      expect(await stage.call('promoteChatMember', { ...of, can_pin_messages: true }), true)
      expect(await status(), 'administrator')
      expect(await stage.call('promoteChatMember', { ...of, can_pin_messages: false }), true)
      const permissions = { can_send_messages: false }
      expect(await stage.call('restrictChatMember', { ...of, permissions }), true)
      expect(await status(), 'restricted')
      expect(await stage.call('banChatMember', of), true)
      expect(await status(), 'kicked')
      expect(await stage.call('unbanChatMember', of), true)
      expect(await status(), 'left')
    },
  ],
  [
    'invite link and join',
    async (stage) => {
      const { kim } = stage.account
      const chat_id = await stage.newGroup({ title: 'Open' })
      const link = await stage.call('createChatInviteLink', { chat_id, name: 'door' })
      expect(link, { name: 'door', is_revoked: false })
      await follow(stage, link.invite_link)
      const joined = { user: { id: kim.id }, status: 'member' }
      await stage.bot.hears({ chat_member: { chat: { id: chat_id }, new_chat_member: joined } })
      const revoked = { chat_id, invite_link: link.invite_link }
      expect(await stage.call('revokeChatInviteLink', revoked), { is_revoked: true })
    },
  ],
  [
    'join request',
    async (stage) => {
      const { kim } = stage.account
      const chat_id = await stage.newGroup({ title: 'Closed' })
      const asks = { chat_id, creates_join_request: true }
      const { invite_link } = await stage.call('createChatInviteLink', asks)
      await follow(stage, invite_link)
      const wanted = { chat: { id: chat_id }, from: { id: kim.id } }
      await stage.bot.hears({ chat_join_request: wanted })
      const of = { chat_id, user_id: kim.id }
      expect(await stage.call('approveChatJoinRequest', of), true)
      expect(await stage.call('getChatMember', of), { status: 'member' })
    },
  ],
  [
    'forum topics',
    async (stage) => {
      const chat_id = await stage.newGroup({ title: 'Forum', is_forum: true })
      const topic = await stage.call('createForumTopic', { chat_id, name: 'Tea' })
      const { message_thread_id } = topic
      expect(topic, { name: 'Tea' })
      const place = { chat_id, message_thread_id }
      const sent = await stage.call('sendMessage', { ...place, text: 'in it' })
      expect(sent, { message_thread_id, is_topic_message: true })
      expect(await stage.call('editForumTopic', { ...place, name: 'Coffee' }), true)
      expect(await stage.call('closeForumTopic', place), true)
      expect(await stage.call('deleteForumTopic', place), true)
    },
  ],
  [
    'title, description, permissions',
    async (stage) => {
      const chat_id = await stage.newGroup({ title: 'Plain' })
      expect(await stage.call('setChatTitle', { chat_id, title: 'Fine' }), true)
      expect(await stage.call('setChatDescription', { chat_id, description: 'About' }), true)
      const permissions = { can_send_messages: true }
      expect(await stage.call('setChatPermissions', { chat_id, permissions }), true)
      expect(await stage.call('getChat', { chat_id }), { title: 'Fine', description: 'About' })
    },
  ],
  [
    'commands',
    async (stage) => {
      const commands = [{ command: 'go', description: 'Goes' }]
      expect(await stage.call('setMyCommands', { commands }), true)
      expect(await stage.call('getMyCommands'), commands)
      expect(await stage.call('deleteMyCommands'), true)
      expect((await stage.call('getMyCommands')).length, 0)
    },
  ],
]
