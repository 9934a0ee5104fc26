/** An account acts for a business: it learns what is written to it, answers in its name, and cares for its gifts. */
import { Api } from 'grammy'
import t from 'tap'
import { callWithFiles, picture } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, ada, bot, key } = await scene(t, { env: { FFMPEG: '' } })
const api = new Api(key, { apiRoot: service.url })
const kim = await client.person('Kim', 'kim_customer')
const own = `/sandbox/people/${ada.id}`
const path = `${own}/business/${bot.id}`
const rights = async (...names: string[]): Promise<string> =>
  (await client.result('PUT', path, { rights: names })).business_connection_id

let offset = 0
/** The newest update of this kind. */
async function next(kind: string) {
  for (;;) {
    const { body } = await client.bot(key, 'getUpdates', { offset, timeout: 10 })
    if (body.result.length === 0) throw new Error(`no ${kind}`)
    for (const update of body.result) {
      offset = update.update_id + 1
      if (update[kind]) return update[kind]
    }
  }
}
const inbox = async (person: number, chat: number) =>
  (await client.result('GET', `/sandbox/people/${person}/inbox?chat=${chat}`)).messages

t.test('a connection is told, shown and ended', async (t) => {
  const id = await rights('reply')
  const connection = { id, user: { id: ada.id }, is_enabled: true, rights: { can_reply: true } }
  t.match(await next('business_connection'), connection)
  t.match(await api.getBusinessConnection(id), connection)
  t.match(await client.result('GET', `${own}/business`), [
    { business_connection_id: id, account: bot.id, rights: ['reply'] },
  ])
  await client.result('DELETE', path)
  t.match(await next('business_connection'), { id, is_enabled: false })
  const send = { business_connection_id: id, chat_id: kim.id, text: 'hi' }
  t.match(
    await client.bot(key, 'sendMessage', send),
    refused(400, 'Bad Request: BUSINESS_CONNECTION_INVALID'),
  )
  const missing = refused(400, 'Bad Request: business connection not found')
  t.match(
    await client.bot(key, 'getBusinessConnection', { business_connection_id: 'none' }),
    missing,
  )
  t.match(await client.bot(key, 'getBusinessConnection', {}), missing)
  t.match(await client.ask('PUT', path, { rights: ['everything'] }), { status: 400 })
  t.match(await client.ask('PUT', `${own}/business/${ada.id}`, {}), { status: 400 })
})

t.test('messages of the business are told, and answered in its name', async (t) => {
  const business_connection_id = await rights('reply', 'read_messages', 'delete_sent_messages')
  await client.write(kim.id, `@gatebot_friend`, 'are you open?')
  const asked = await next('business_message')
  t.match(asked, {
    business_connection_id,
    from: { id: kim.id },
    chat: { id: kim.id, type: 'private' },
    text: 'are you open?',
  })
  const { message_id: question } = asked
  t.equal(await api.readBusinessMessage(business_connection_id, kim.id, question), true)
  const answer = await api.sendMessage(kim.id, 'yes', {
    business_connection_id,
    reply_parameters: { message_id: question },
  })
  t.match(answer, { business_connection_id, from: { id: ada.id }, chat: { id: kim.id } })
  t.match(answer, { sender_business_bot: { id: bot.id, is_bot: true } })
  const [seen] = await inbox(kim.id, ada.id)
  t.match(seen, { text: 'yes', from: { id: ada.id }, reply_to_message_id: question })
  await client.result('POST', `${own}/messages`, { to: kim.id, text: 'by myself' })
  t.match(await next('business_message'), { from: { id: ada.id }, text: 'by myself' })
  const edit = `/sandbox/people/${kim.id}/chats/${ada.id}/messages/${question}`
  await client.result('PATCH', edit, { text: 'are you open today?' })
  t.match(await next('edited_business_message'), { text: 'are you open today?' })
  const remove = (...message_ids: number[]) =>
    client.bot(key, 'deleteBusinessMessages', { business_connection_id, message_ids })
  t.match(await remove(question), refused(400, 'Bad Request: BOT_ACCESS_FORBIDDEN'))
  t.match(await remove(answer.message_id), { status: 200 })
  await client.result('DELETE', edit)
  t.match(await next('deleted_business_messages'), {
    business_connection_id,
    chat: { id: kim.id },
    message_ids: [question],
  })
  t.match(
    (await inbox(kim.id, ada.id)).map(({ text }: { text: string }) => text),
    ['by myself'],
  )
})

t.test('each right is asked for', async (t) => {
  const business_connection_id = await rights('reply')
  const name = { business_connection_id, first_name: 'Adelheid' }
  const forbidden = refused(400, 'Bad Request: BOT_ACCESS_FORBIDDEN')
  t.match(await client.bot(key, 'setBusinessAccountName', name), forbidden)
  await rights('edit_name', 'edit_bio', 'edit_username', 'edit_profile_photo')
  t.match(await client.bot(key, 'setBusinessAccountName', name), { status: 200 })
  t.equal(await api.setBusinessAccountBio(business_connection_id, 'Open all day'), true)
  t.equal(await api.setBusinessAccountUsername(business_connection_id, 'adelheid_shop'), true)
  t.match(
    await client.bot(key, 'setBusinessAccountUsername', { business_connection_id, username: 'a' }),
    refused(400, 'Bad Request: USERNAME_INVALID'),
  )
  const photo = { type: 'static', photo: 'attach://picture' }
  const files = { picture: { bytes: await picture(), name: 'a.jpg' } }
  t.match(
    await callWithFiles(
      service.url,
      key,
      'setBusinessAccountProfilePhoto',
      { business_connection_id, photo },
      files,
    ),
    { status: 200 },
  )
  t.match(await api.getChat(ada.id), {
    first_name: 'Adelheid',
    username: 'adelheid_shop',
    bio: 'Open all day',
    photo: { big_file_id: String },
  })
  const group = await client.result('POST', '/sandbox/chats', {
    kind: 'group',
    title: 'G',
    owner: ada.id,
  })
  await rights('reply')
  t.match(
    await client.bot(key, 'sendMessage', {
      business_connection_id,
      chat_id: group.id,
      text: 'in a group',
    }),
    refused(400, 'Bad Request: BUSINESS_PEER_INVALID'),
  )
})

t.test('gifts are bought, kept, upgraded, passed on and sold', async (t) => {
  const sticker = { data: (await picture(200, 200, '#ddaa00')).toString('base64') }
  const gift = await client.result('POST', '/sandbox/gifts', {
    sticker,
    star_count: 100,
    upgrade_star_count: 50,
    total_count: 3,
  })
  t.match(await api.getAvailableGifts(), {
    gifts: [{ id: gift.id, star_count: 100, total_count: 3, sticker: { type: 'regular' } }],
  })
  t.equal(
    await api.sendGift(ada.id, gift.id, { text: 'For *you*', text_parse_mode: 'Markdown' }),
    true,
  )
  const [service] = await inbox(ada.id, bot.id)
  t.match(service, { service: 'gift', media: { type: 'sticker' } })
  await client.result('POST', `/sandbox/people/${kim.id}/gifts`, { to: ada.id, gift_id: gift.id })
  const list = { user_id: ada.id, limit: 1 }
  const { result: first } = (await client.bot(key, 'getUserGifts', list)).body
  t.match(first, { total_count: 2, next_offset: /^1$/, gifts: [{ sender_user: { id: kim.id } }] })
  const { result: rest } = (await client.bot(key, 'getUserGifts', { ...list, offset: '1' })).body
  t.match(rest.gifts, [
    { type: 'regular', text: 'For you', sender_user: { id: bot.id }, convert_star_count: 85 },
  ])
  t.notOk('next_offset' in rest)

  const business_connection_id = await rights(
    'view_gifts_and_stars',
    'convert_gifts_to_stars',
    'transfer_and_upgrade_gifts',
    'transfer_stars',
    'change_gift_settings',
  )
  const call = (method: string, more: object = {}) =>
    client.bot(key, method, { business_connection_id, ...more })
  const { amount } = (await call('getBusinessAccountStarBalance')).body.result
  const [{ owned_gift_id }] = rest.gifts
  const upgrade = { owned_gift_id, keep_original_details: true }
  t.match(await call('upgradeGift', upgrade), refused(400, 'Bad Request: STARS_AMOUNT_INVALID'))
  t.match(await call('upgradeGift', { ...upgrade, star_count: 50 }), { status: 200 })
  const unique = { exclude_unlimited: true, exclude_limited_upgradable: true }
  t.match((await call('getBusinessAccountGifts', unique)).body.result, {
    total_count: 1,
    gifts: [{ type: 'unique', gift: { number: 1, gift_id: gift.id }, can_be_transferred: true }],
  })
  t.match(await call('transferGift', { owned_gift_id, new_owner_chat_id: kim.id }), { status: 200 })
  t.match((await client.bot(key, 'getUserGifts', { user_id: kim.id })).body.result, {
    gifts: [{ type: 'unique' }],
  })
  t.match(
    await call('convertGiftToStars', { owned_gift_id }),
    refused(400, 'Bad Request: STARGIFT_NOT_FOUND'),
  )
  const sold = { owned_gift_id: first.gifts[0].owned_gift_id }
  t.match(await call('convertGiftToStars', sold), { status: 200 })
  t.match((await call('getBusinessAccountStarBalance')).body.result, { amount: amount - 50 + 85 })
  t.match(await call('transferBusinessAccountStars', { star_count: 10 }), { status: 200 })
  t.match((await call('getBusinessAccountStarBalance')).body.result, { amount: amount + 25 })
  const types = { unlimited_gifts: true, limited_gifts: true, unique_gifts: false }
  const settings = { show_gift_button: true, accepted_gift_types: types }
  t.match(await call('setBusinessAccountGiftSettings', settings), { status: 200 })
  const disallowed = refused(400, 'Bad Request: USER_DISALLOWED_STARGIFTS')
  const months = { month_count: 3, star_count: 1000 }
  const refusing = { ...months, user_id: ada.id }
  t.match(await client.bot(key, 'giftPremiumSubscription', refusing), disallowed)
  await call('setBusinessAccountGiftSettings', {
    show_gift_button: true,
    accepted_gift_types: { unlimited_gifts: true, premium_subscription: true },
  })
  const limited = { user_id: ada.id, gift_id: gift.id }
  t.match(await client.bot(key, 'sendGift', limited), disallowed)
  t.match(await api.getChat(ada.id), {
    accepted_gift_types: { limited_gifts: false, premium_subscription: true },
  })
  const premium = { ...months, user_id: kim.id }
  t.match(await client.bot(key, 'giftPremiumSubscription', premium), { status: 200 })
  t.match(
    await client.bot(key, 'giftPremiumSubscription', { ...premium, month_count: 4 }),
    refused(400, 'Bad Request: PREMIUM_MONTHS_INVALID'),
  )
  await client.write(kim.id, '@gatebot', 'thanks')
  const { transactions } = (await client.bot(key, 'getStarTransactions', {})).body.result
  t.match(transactions, [
    {
      amount: 100,
      receiver: { transaction_type: 'gift_purchase', user: { id: ada.id }, gift: { id: gift.id } },
    },
    { amount: 10, source: { transaction_type: 'business_account_transfer', user: { id: ada.id } } },
    {
      amount: 1000,
      receiver: {
        transaction_type: 'premium_purchase',
        user: { id: kim.id },
        premium_subscription_duration: 3,
      },
    },
  ])
  t.match(await next('message'), { from: { id: kim.id, is_premium: true }, text: 'thanks' })
  t.match(
    await client.bot(key, 'sendGift', { user_id: ada.id, gift_id: 'none' }),
    refused(400, 'Bad Request: STARGIFT_INVALID'),
  )
  t.match(await client.ask('POST', '/sandbox/gifts', { sticker, star_count: 0 }), { status: 400 })
})

t.test('stories are edited and posted again', async (t) => {
  const business_connection_id = await rights('manage_stories')
  const files = { picture: { bytes: await picture(), name: 'a.jpg' } }
  const call = (method: string, more: object) =>
    callWithFiles(service.url, key, method, { business_connection_id, ...more }, files)
  const content = { type: 'photo', photo: 'attach://picture' }
  const active_period = 86_400
  const posted = await call('postStory', { content, active_period, caption: 'new' })
  t.match(posted.body, { result: { chat: { id: ada.id }, id: 1 } })
  const edited = { content, story_id: 1, caption: 'better' }
  t.match((await call('editStory', edited)).body, { result: { id: 1 } })
  const missing = refused(400, 'Bad Request: story not found')
  t.match(await call('editStory', { ...edited, story_id: 9 }), missing)
  const again = { from_chat_id: ada.id, from_story_id: 1, active_period }
  t.match((await call('repostStory', again)).body, { result: { id: 2 } })
  t.match(
    await call('repostStory', { ...again, from_chat_id: kim.id }),
    refused(400, 'Bad Request: STORY_NOT_ALLOWED'),
  )
  const stories = await client.result('GET', `${own}/stories`)
  t.match(
    stories.map(({ caption }: { caption: string }) => caption),
    ['better', 'better'],
  )
})
