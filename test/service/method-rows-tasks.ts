/** What the methods of bots with a task of their own are called with on the sandbox, and what they answer. */
import type { MethodRow } from './method-rows.ts'
import type { MethodStage } from './method-stage.ts'

export function botTaskRows({
  ada,
  bot,
  client,
  next,
}: MethodStage): Readonly<Record<string, MethodRow>> {
  /** Somebody asks to join a chat whose requests the bot answers; resolves with the query. */
  async function asking() {
    const username = `door_${crypto.randomUUID().slice(0, 8)}`
    const { id } = await client.result('POST', '/sandbox/chats', {
      kind: 'supergroup',
      title: 'Door',
      owner: bot.id,
      username,
      join_by_request: true,
    })
    const path = `/sandbox/people/${bot.id}/chats/${id}/join_bot`
    await client.result('PUT', path, { bot: bot.id })
    const invite_link = `@${username}`
    await client.result('POST', `/sandbox/people/${ada.id}/follow`, { invite_link })
    return { chat_join_request_query_id: (await next('chat_join_request')).query_id }
  }
  /** A bot that somebody has made for this one. */
  async function made() {
    const username = `tea_${crypto.randomUUID().slice(0, 8)}_bot`
    const path = `/sandbox/people/${ada.id}/managed_bots`
    const body = { manager: bot.id, first_name: 'Tea', username }
    return { user_id: (await client.result('POST', path, body)).id }
  }
  /** Somebody suggests a post to a channel of the bot. */
  async function suggested() {
    const news = { kind: 'channel', title: 'News', owner: bot.id, members: [ada.id] }
    const channel = (await client.result('POST', '/sandbox/chats', news)).id
    const path = `/sandbox/people/${ada.id}`
    const direct = await client.result('PUT', `${path}/chats/${channel}/direct_messages`)
    const post = { to: direct.id, text: 'an idea', suggested_post: {} }
    const { message_id } = await client.result('POST', `${path}/messages`, post)
    return { chat_id: direct.id, message_id }
  }
  const element_hash = Buffer.alloc(32).toString('base64')
  const error = { source: 'unspecified', type: 'passport', element_hash, message: 'Blurred' }
  return {
    approveSuggestedPost: [true, suggested],
    declineSuggestedPost: [true, async () => ({ ...(await suggested()), comment: 'no' })],
    getManagedBotToken: [/^\d+:/, made],
    replaceManagedBotToken: [/^\d+:/, made],
    getManagedBotAccessSettings: [{ is_access_restricted: false }, made],
    setManagedBotAccessSettings: [
      true,
      async () => ({ ...(await made()), is_access_restricted: true, added_user_ids: [ada.id] }),
    ],
    setPassportDataErrors: [true, { user_id: ada.id, errors: [error] }],
    answerChatJoinRequestQuery: [true, async () => ({ ...(await asking()), result: 'approve' })],
    sendChatJoinRequestWebApp: [
      true,
      async () => ({ ...(await asking()), web_app_url: 'https://app.invalid' }),
    ],
    getUserPersonalChatMessages: [[], { user_id: ada.id, limit: 1 }],
  }
}
