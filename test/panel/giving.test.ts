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

  const image = async (color: string) => ({
    name: 'a.png',
    mimeType: 'image/png',
    buffer: await picture(200, 200, color),
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

  await t.test('a gift is added, with a picture and a price', async (t) => {
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${bot.id}`)
    await button('About Bot').click()
    await button('Add a gift').click()
    await dialog.getByLabel('Picture').setInputFiles(await image('#22aa00'))
    await dialog.getByLabel('Price in Stars').fill('7')
    t.same(await seriousIn(page), [])
    await dialog.getByRole('button', { name: 'Add a gift' }).last().click()
    await dialog.locator('.record', { hasText: '⭐ 7' }).waitFor()
    const { gifts } = await ask('getAvailableGifts', {})
    t.ok(gifts.some(({ star_count }: { star_count: number }) => star_count === 7))
  })

  await t.test('a person changes the photo, and a group has one, too', async (t) => {
    const make = { kind: 'group', title: 'Painters', owner: ada.id }
    const group = await client.result('POST', '/sandbox/chats', make)
    const data = (await picture()).toString('base64')
    await client.result('PUT', `/sandbox/people/${ada.id}/chats/${group.id}/photo`, { data })
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${group.id}`)
    await page.locator('.window .face img[src^="blob:"]').waitFor()
    await page.locator('.fact', { hasText: 'Ada changed the picture' }).locator('img').waitFor()
    await button('What Ada has').click()
    await dialog.locator('input[type=file]').setInputFiles(await image('#0022aa'))
    await dialog.locator('.face img[src^="blob:"]').waitFor()
    t.match(await client.result('GET', `/sandbox/people/${ada.id}`), { photo: { type: 'photo' } })
  })

  await t.test('photos are shown, and the mark of those that were verified', async () => {
    const files = { picture: { bytes: await picture(), name: 'a.jpg' } }
    const photo = { type: 'static', photo: 'attach://picture' }
    await callWithFiles(service.url, key, 'setMyProfilePhoto', { photo }, files)
    await ask('verifyUser', { user_id: bot.id, custom_description: 'Tea guild' })
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${bot.id}`)
    await page.locator('.chats [aria-current] .face img[src^="blob:"]').waitFor()
    await page.locator('.window .face img[src^="blob:"]').waitFor()
    await page.locator('.window .verified[title="Verified: Tea guild"]').waitFor()
    await button('About Bot').click()
    await dialog.getByText('Verified: Tea guild').waitFor()
  })
  t.same(complaints, [])
})
