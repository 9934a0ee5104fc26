/** What methods about businesses, gifts and stories are called with on the sandbox, and what they answer. */
import { BUSINESS_RIGHTS } from '../../machines/model/business.ts'
import { picture } from './files.ts'
import type { MethodRow } from './method-rows.ts'
import { user } from './method-shapes.ts'
import type { MethodStage } from './method-stage.ts'

export function businessRows({
  client,
  ada,
  kim,
  bot,
  done,
}: MethodStage): Readonly<Record<string, MethodRow>> {
  const business = async () => {
    const path = `/sandbox/people/${ada.id}/business/${bot.id}`
    const { business_connection_id } = await client.result('PUT', path, { rights: BUSINESS_RIGHTS })
    return { business_connection_id: business_connection_id as string }
  }
  const by = (more: object) => async () => ({ ...(await business()), ...more })
  const newGift = async () => {
    const sticker = { data: (await picture(64, 64, '#ffcc00')).toString('base64') }
    const terms = { sticker, star_count: 10, upgrade_star_count: 5 }
    return (await client.result('POST', '/sandbox/gifts', terms)).id as string
  }
  const ownedGift = async () => {
    await done('sendGift', { user_id: ada.id, gift_id: await newGift() })
    const { gifts } = await done('getUserGifts', { user_id: ada.id })
    return { ...(await business()), owned_gift_id: gifts[0].owned_gift_id }
  }
  const letter = async () => {
    const place = { ...(await business()), chat_id: kim.id }
    const { message_id } = await done('sendMessage', { ...place, text: 'hi' })
    return { ...place, message_id }
  }
  const story = { type: 'photo', photo: 'attach://picture' }
  const posted = async () => {
    const place = await business()
    const { id } = await done('postStory', { ...place, content: story, active_period: 86_400 })
    return { ...place, story_id: id }
  }
  const owned = { total_count: Number, gifts: Array }
  return {
    getAvailableGifts: [{ gifts: Array }],
    sendGift: [true, async () => ({ user_id: ada.id, gift_id: await newGift() })],
    giftPremiumSubscription: [true, { user_id: ada.id, month_count: 3, star_count: 1000 }],
    getUserGifts: [owned, { user_id: ada.id }],
    getChatGifts: [
      owned,
      async () => {
        const terms = { kind: 'channel', title: 'Channel', owner: bot.id }
        return { chat_id: (await client.result('POST', '/sandbox/chats', terms)).id }
      },
    ],
    getBusinessAccountGifts: [owned, business],
    convertGiftToStars: [true, ownedGift],
    upgradeGift: [true, async () => ({ ...(await ownedGift()), star_count: 5 })],
    transferGift: [
      true,
      async () => {
        const gift = await ownedGift()
        await done('upgradeGift', { ...gift, star_count: 5 })
        return { ...gift, new_owner_chat_id: kim.id }
      },
    ],
    getBusinessConnection: [{ id: String, user, is_enabled: true }, business],
    readBusinessMessage: [true, letter],
    deleteBusinessMessages: [
      true,
      async () => {
        const { message_id, business_connection_id } = await letter()
        return { business_connection_id, message_ids: [message_id] }
      },
    ],
    setBusinessAccountName: [true, by({ first_name: 'Ada' })],
    setBusinessAccountUsername: [true, by({ username: 'ada_lovelace' })],
    setBusinessAccountBio: [true, by({ bio: 'Open' })],
    setBusinessAccountProfilePhoto: [
      true,
      by({ photo: { type: 'static', photo: 'attach://picture' } }),
    ],
    removeBusinessAccountProfilePhoto: [true, business],
    setBusinessAccountGiftSettings: [
      true,
      by({ show_gift_button: true, accepted_gift_types: { unlimited_gifts: true } }),
    ],
    getBusinessAccountStarBalance: [{ amount: Number }, business],
    transferBusinessAccountStars: [true, by({ star_count: 1 })],
    editStory: [
      { id: Number, chat: { id: ada.id } },
      async () => ({ ...(await posted()), content: story }),
    ],
    repostStory: [
      { id: Number },
      async () => {
        const { story_id: from_story_id, business_connection_id } = await posted()
        const terms = { from_chat_id: ada.id, from_story_id, active_period: 86_400 }
        return { business_connection_id, ...terms }
      },
    ],
  }
}
