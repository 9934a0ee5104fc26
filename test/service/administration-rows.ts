/** What methods about general topics, titles, senders and verification are called with, and what they answer. */
import type { MethodRow } from './method-rows.ts'
import type { MethodStage } from './method-stage.ts'

export function administrationRows({
  client,
  ada,
  bot,
  chat_id,
  done,
}: MethodStage): Readonly<Record<string, MethodRow>> {
  const make = async (more: object): Promise<number> =>
    (await client.result('POST', '/sandbox/chats', { title: 'More', owner: bot.id, ...more })).id
  const forum = async () => ({
    chat_id: await make({ kind: 'supergroup', is_forum: true }),
  })
  const after = (method: string) => async () => {
    const place = await forum()
    await done(method, place)
    return place
  }
  const paid = { subscription_period: 2_592_000, subscription_price: 5 }
  const somebody = { chat_id, user_id: ada.id }
  const sender = async () => ({ chat_id, sender_chat_id: await make({ kind: 'channel' }) })
  return {
    editGeneralForumTopic: [true, async () => ({ ...(await forum()), name: 'Lobby' })],
    closeGeneralForumTopic: [true, forum],
    reopenGeneralForumTopic: [true, after('closeGeneralForumTopic')],
    hideGeneralForumTopic: [true, forum],
    unhideGeneralForumTopic: [true, after('hideGeneralForumTopic')],
    unpinAllGeneralForumTopicMessages: [true, forum],
    unpinAllForumTopicMessages: [
      true,
      async () => {
        const place = await forum()
        const topic = await done('createForumTopic', { ...place, name: 'Tea' })
        return { ...place, message_thread_id: topic.message_thread_id }
      },
    ],
    setChatAdministratorCustomTitle: [
      true,
      async () => {
        const place = { ...(await forum()), user_id: ada.id }
        await client.result('PUT', `/sandbox/chats/${place.chat_id}/members/${ada.id}`, {
          role: 'admin',
        })
        return { ...place, custom_title: 'Boss' }
      },
    ],
    setChatMemberTag: [true, { ...somebody, tag: 'friend' }],
    banChatSenderChat: [true, sender],
    unbanChatSenderChat: [true, sender],
    verifyUser: [true, { user_id: ada.id, custom_description: 'One of us' }],
    verifyChat: [true, { chat_id }],
    removeUserVerification: [true, { user_id: ada.id }],
    removeChatVerification: [true, { chat_id }],
    setUserEmojiStatus: [
      true,
      async () => {
        await client.result('PUT', `/sandbox/people/${ada.id}/emoji_status_access/${bot.id}`, {})
        return { user_id: ada.id }
      },
    ],
    createChatSubscriptionInviteLink: [
      { invite_link: String, subscription_price: 5 },
      async () => ({ chat_id: await make({ kind: 'channel' }), ...paid }),
    ],
    editChatSubscriptionInviteLink: [
      { name: 'New' },
      async () => {
        const place = { chat_id: await make({ kind: 'channel' }) }
        const terms = { ...place, ...paid }
        const { invite_link } = await done('createChatSubscriptionInviteLink', terms)
        return { ...place, invite_link, name: 'New' }
      },
    ],
    getUserChatBoosts: [{ boosts: Array }, somebody],
  }
}
