/** Gifts, Telegram Stars and what is sold for them, with an account of Telegram over the bot API. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { refused } from '../service/scene.ts'
import { startService } from '../support/service.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { offerGift } from '../support/telegram-dc/gifts.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

t.test('an account of Telegram buys gifts and does with its own what owners may', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const service = await startService(t, { platforms: [stage.platform()] })
  const client = await service.client()
  const [person, friend] = [network.person(), network.person()]
  const channel = network.channel(person, [friend])
  network.delivery.send(friend, person, { message: 'hello' })
  network.delivery.send(person, channel, { message: 'hello' })
  const bytes = randomBytes(3_000)
  const bear = offerGift(network, { stars: 50, bytes })
  const { key } = await linkOver(client, person)
  const ask = (method: string, parameters: object = {}) => client.bot(key, method, parameters)
  const done = async (method: string, parameters: object = {}) => {
    const { body } = await ask(method, parameters)
    if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
    return body.result
  }
  const gift_id = bear.id.toString()
  person.stars = 1_000

  await t.test('the gifts for sale are listed, and their pictures can be read', async (t) => {
    const { gifts } = await done('getAvailableGifts')
    t.match(gifts, [{ id: gift_id, star_count: 50, upgrade_star_count: 25 }])
    t.match(gifts[0].sticker, { emoji: '🧸', width: 512 })
    const { file_size } = await done('getFile', { file_id: gifts[0].sticker.file_id })
    t.equal(file_size, bytes.length)
  })

  await t.test('a gift is paid for and arrives with its words', async (t) => {
    const text = { text: 'for *you*', text_parse_mode: 'MarkdownV2' }
    t.equal(
      await done('sendGift', { user_id: friend.id, gift_id, pay_for_upgrade: true, ...text }),
      true,
    )
    t.equal(person.stars, 925)
    t.match(
      [...friend.gifts.values()],
      [{ message: { text: 'for you', entities: [{ _: 'messageEntityBold' }] } }],
    )
    t.same(await done('getMyStarBalance'), { amount: 925 })
    const { total_count, gifts } = await done('getUserGifts', { user_id: friend.id })
    t.equal(total_count, 1)
    t.match(gifts, [
      {
        type: 'regular',
        gift: { id: gift_id },
        sender_user: { id: person.id },
        is_saved: true,
        text: 'for you',
        prepaid_upgrade_star_count: 25,
      },
    ])
    t.notOk('owned_gift_id' in gifts[0], "nothing can be done with another's gift")
  })

  await t.test('premium is given at the price that was named, and at no other', async (t) => {
    const premium = { user_id: friend.id, month_count: 3 }
    t.match(
      await ask('giftPremiumSubscription', { ...premium, star_count: 1 }),
      refused(400, 'Bad Request: the price is 900 Telegram Stars, not 1'),
    )
    t.equal(person.stars, 925)
    t.equal(await done('giftPremiumSubscription', { ...premium, star_count: 900 }), true)
    t.equal(friend.isPremium, true)
    t.match(
      await ask('sendGift', { user_id: friend.id, gift_id }),
      refused(400, 'Bad Request: BALANCE_TOO_LOW'),
    )
    t.match(
      await ask('sendGift', { user_id: friend.id, gift_id: 'none' }),
      refused(400, 'Bad Request: STARGIFT_INVALID'),
    )
  })

  await t.test('what came and went is listed from any place on', async (t) => {
    const { transactions } = await done('getStarTransactions')
    t.match(transactions, [
      {
        amount: 75,
        receiver: { type: 'user', transaction_type: 'gift_purchase', user: { id: friend.id } },
      },
      {
        amount: 900,
        receiver: { transaction_type: 'premium_purchase', premium_subscription_duration: 3 },
      },
    ])
    const [, second] = transactions
    t.same((await done('getStarTransactions', { offset: 1, limit: 1 })).transactions, [second])
    t.match(
      await ask('getStarTransactions', { offset: 5_000 }),
      refused(400, 'Bad Request: only the first 2000 transactions can be read'),
    )
  })

  await t.test('own gifts are sold, upgraded and passed on', async (t) => {
    person.stars = 1_000
    for (const _ of [1, 2]) await done('sendGift', { user_id: person.id, gift_id })
    const listed = async () => (await done('getBusinessAccountGifts')).gifts
    const [first, second] = await listed()
    t.equal(await done('convertGiftToStars', { owned_gift_id: first.owned_gift_id }), true)
    t.equal(person.stars, 949)
    t.match(
      await ask('convertGiftToStars', { owned_gift_id: first.owned_gift_id }),
      refused(400, 'Bad Request: STARGIFT_NOT_FOUND'),
    )
    const { owned_gift_id } = second
    t.match(
      await ask('upgradeGift', { owned_gift_id, star_count: 24 }),
      refused(400, 'Bad Request: the price is 25 Telegram Stars, not 24'),
    )
    t.match(
      await ask('upgradeGift', { owned_gift_id }),
      refused(400, 'Bad Request: PAYMENT_REQUIRED'),
    )
    t.equal(await done('upgradeGift', { owned_gift_id, star_count: 25 }), true)
    const [unique] = await listed()
    t.match(unique, {
      type: 'unique',
      gift: {
        base_name: 'Tea Bear',
        name: 'TeaBear-7',
        number: 7,
        model: { name: 'Bear', rarity_per_mille: 5 },
        symbol: { name: 'Leaf' },
        backdrop: { name: 'Dawn', colors: { center_color: 1, symbol_color: 3 } },
      },
      transfer_star_count: 10,
      can_be_transferred: true,
    })
    const passing = { owned_gift_id, new_owner_chat_id: friend.id }
    t.equal(await done('transferGift', { ...passing, star_count: 10 }), true)
    t.same(await listed(), [])
    t.equal(person.stars, 914)
  })

  await t.test('the account says which gifts it accepts, and what it is called', async (t) => {
    person.privacy = { _: 'globalPrivacySettings', hideReadMarks: true }
    const accepted_gift_types = {
      unlimited_gifts: true,
      limited_gifts: false,
      unique_gifts: true,
      premium_subscription: false,
      gifts_from_channels: true,
    }
    const settings = { show_gift_button: true, accepted_gift_types }
    t.equal(await done('setBusinessAccountGiftSettings', settings), true)
    t.match(person.privacy, { hideReadMarks: true, displayGiftsButton: true })
    const { disallowedGifts } = person.privacy
    t.match(disallowedGifts, { disallowLimitedStargifts: true, disallowPremiumGifts: true })
    t.notOk(disallowedGifts?.disallowUnlimitedStargifts)
    t.equal(await done('setBusinessAccountUsername', { username: 'newname' }), true)
    t.equal(person.username, 'newname')
    t.match(
      await ask('setBusinessAccountUsername', { username: friend.username }),
      refused(400, 'Bad Request: USERNAME_OCCUPIED'),
    )
    t.match(
      await ask('setBusinessAccountUsername', { business_connection_id: 'x', username: 'other' }),
      refused(400, 'Bad Request: business connection not found'),
    )
  })

  await t.test('joining a channel is sold for a time', async (t) => {
    const chat_id = Number(nativeOfPlace(channel))
    const terms = { subscription_period: 2_592_000, subscription_price: 70 }
    const link = await done('createChatSubscriptionInviteLink', { chat_id, name: 'Fans', ...terms })
    t.match(link, { name: 'Fans', ...terms })
    const change = { chat_id, invite_link: link.invite_link, name: 'Friends' }
    t.match(await done('editChatSubscriptionInviteLink', change), { name: 'Friends', ...terms })
  })

  await t.test('a story of somebody else is posted again', async (t) => {
    const photo = stage.outgoing({
      kind: 'media',
      media: stage.file('photo', randomBytes(2_000)),
      caption: { text: '', entities: [] },
    })
    friend.stories.set(5, {
      _: 'storyItem',
      id: 5,
      date: 1,
      expireDate: 2,
      caption: 'seen',
      media: photo.media,
    })
    const asked = { from_chat_id: friend.id, from_story_id: 5, active_period: 86_400 }
    const { id, chat } = await done('repostStory', asked)
    t.equal(chat.id, person.id)
    t.match(person.stories.get(id), {
      caption: 'seen',
      media: { _: 'messageMediaPhoto' },
      fwdFrom: { from: { userId: friend.id }, storyId: 5 },
    })
    t.match(
      await ask('repostStory', { ...asked, from_story_id: 6 }),
      refused(400, 'Bad Request: story not found'),
    )
  })

  await t.test('what only bots may is refused with the remedy', async (t) => {
    const words = "only bots may; link a bot's token instead"
    for (const method of ['refundStarPayment', 'editUserStarSubscription', 'answerInlineQuery']) {
      const said = `Bad Request: method ${method} not found on Telegram: ${words}`
      t.match(await ask(method), refused(400, said))
    }
  })
})
