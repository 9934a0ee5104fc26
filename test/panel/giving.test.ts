/** Gifts and boosts in the sandbox's messenger: given, received, shown, converted and taken back. */
import t from 'tap'
import { callWithFiles, picture } from '../service/files.ts'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

t.test('what people give each other', { skip: noBrowser, timeout: 180_000 }, async (t) => {
  const scene = await chatScene(t, '+14155559371')
  const { service, client, page, ada, bot, key, ask, heard, button, dialog, complaints } = scene
  const sticker = { data: (await picture(200, 200, '#ddaa00')).toString('base64') }
  const gift = await client.result('POST', '/sandbox/gifts', {
    sticker,
    star_count: 100,
    total_count: 3,
  })

  await t.test('a gift is given to a bot, which hears of it', async (t) => {
    await button('About Bot').click()
    await dialog.getByText('3 of 3 left').waitFor()
    t.same(await seriousIn(page), [])
    await dialog.getByRole('radio').check()
    await dialog.getByLabel('A few words (optional)').fill('For your help')
    await dialog.getByRole('button', { name: 'Give it for ⭐ 100' }).click()
    await dialog.getByText('2 of 3 left').waitFor()
    t.match((await heard('message')).gift, { gift: { id: gift.id }, text: 'For your help' })
    await dialog.getByRole('button', { name: 'Close' }).click()
    const line = page.locator('.fact', { hasText: 'Ada gave a gift' })
    await line.getByText('For your help').waitFor()
    await line.locator('img[src^="blob:"]').waitFor()
    await page.getByText('⭐ 99,900').waitFor()
  })

  await t.test('a gift is received, listed and converted', async (t) => {
    await ask('sendGift', { user_id: ada.id, gift_id: gift.id, text: 'Well done' })
    await page.locator('.fact', { hasText: 'Well done' }).waitFor()
    await button('What Ada has').click()
    const own = dialog.locator('.record', { hasText: 'Well done' })
    await own.getByText('Bot').waitFor()
    t.same(await seriousIn(page), [])
    await own.getByRole('button', { name: 'Convert to ⭐ 85' }).click()
    await dialog.getByText('Nobody has given this person a gift yet.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText('⭐ 99,985').waitFor()
  })

  await t.test('a group is boosted, and the boost taken back', async (t) => {
    const members = [bot.id]
    const kind = 'supergroup'
    const make = { kind, title: 'News', owner: ada.id, members }
    const group = await client.result('POST', '/sandbox/chats', make)
    const admin = `/sandbox/chats/${group.id}/members/${bot.id}`
    await client.result('PUT', admin, { role: 'admin' })
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${group.id}`)
    await button('About News').click()
    await dialog.getByText('You do not boost this chat.').waitFor()
    await dialog.getByRole('button', { name: 'Boost this chat' }).click()
    await dialog.getByText('Your boost, until').waitFor()
    t.same(await seriousIn(page), [])
    const { chat, boost } = await heard('chat_boost')
    t.match(
      { chat, boost },
      { chat: { id: group.id }, boost: { source: { user: { id: ada.id } } } },
    )
    await dialog.getByRole('button', { name: 'Take it back' }).click()
    await dialog.getByText('You do not boost this chat.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
  })

  await t.test('photos are shown, and the mark of those that were verified', async () => {
    const files = { picture: { bytes: await picture(), name: 'a.jpg' } }
    const photo = { type: 'static', photo: 'attach://picture' }
    await callWithFiles(service.url, key, 'setMyProfilePhoto', { photo }, files)
    await ask('verifyUser', { user_id: bot.id, custom_description: 'Tea guild' })
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${bot.id}`)
    await page.locator('.chats .face img[src^="blob:"]').waitFor()
    await page.locator('.window .face img[src^="blob:"]').waitFor()
    await page.locator('.window .verified[title="Verified: Tea guild"]').waitFor()
    await button('About Bot').click()
    await dialog.getByText('Verified: Tea guild').waitFor()
  })
  t.same(complaints, [])
})
