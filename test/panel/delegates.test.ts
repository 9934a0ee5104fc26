/** Who acts for a person in the sandbox's messenger: business connections with their rights, and bots that the person makes. */
import t from 'tap'
import { callWithFiles, picture } from '../service/files.ts'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

t.test('those who act for a person', { skip: noBrowser, timeout: 180_000 }, async (t) => {
  const scene = await chatScene(t, '+14155559374')
  const { service, client, page, ada, key, ask, heard, button, complaints } = scene
  const dialog = page.locator('.dialog').last()
  const openTab = async (name: string) => {
    await button('What Ada has').click()
    await dialog.getByRole('tab', { name }).click()
  }
  const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
  const acts = dialog.getByRole('switch', { name: 'Bot acts for this person' })

  await t.test('an account is let in, given a right, and a story of it is seen', async (t) => {
    await openTab('Business')
    await acts.click()
    const rights = { can_reply: true, can_read_messages: true }
    const { id, ...connection } = await heard('business_connection')
    t.match(connection, { user: { id: ada.id }, is_enabled: true, rights })
    t.notOk(connection.rights.can_manage_stories)
    await dialog.getByLabel('Post stories').click()
    t.match((await heard('business_connection')).rights, { ...rights, can_manage_stories: true })
    t.same(await seriousIn(page), [])
    const story = {
      business_connection_id: id,
      content: { type: 'photo', photo: 'attach://photo' },
      active_period: 86_400,
      caption: 'Fresh tea',
    }
    const files = { photo: { bytes: await picture(1080, 1920), name: 'a.jpg' } }
    t.match(await callWithFiles(service.url, key, 'postStory', story, files), { status: 200 })
    await dialog.getByRole('tab', { name: 'Stories' }).click()
    const seen = dialog.locator('.record', { hasText: 'Fresh tea' })
    await seen.locator('img[src^="blob:"]').waitFor()
    t.same(await seriousIn(page), [])
  })

  await t.test('it is taken out again', async (t) => {
    await dialog.getByRole('tab', { name: 'Business' }).click()
    await acts.click()
    t.match(await heard('business_connection'), { is_enabled: false })
    await dialog.getByLabel('Post stories').waitFor({ state: 'detached' })
  })

  await t.test('a bot is made, and the key shown that links it', async (t) => {
    await dialog.getByRole('tab', { name: 'Bots' }).click()
    await press('Make a bot')
    await dialog.getByLabel('Name', { exact: true }).fill('Tea')
    await dialog.getByLabel('Username').fill('tea_bot')
    await press('Make a bot')
    const token = page.getByRole('region', { name: 'Tea' }).locator('code')
    const first = await token.textContent()
    const made = (await client.result('GET', `/sandbox/people/${ada.id}/managed_bots`))[0]
    t.equal(first, made.token)
    t.same(await seriousIn(page), [])
    t.equal(await ask('getManagedBotToken', { user_id: made.bot.id }), first)
    await press('New key')
    await page.getByText(first ?? '').waitFor({ state: 'detached' })
    t.equal(await ask('getManagedBotToken', { user_id: made.bot.id }), await token.textContent())
    await press('Close')
  })

  await t.test('a key of a keyboard asks for a bot', async (t) => {
    const request_managed_bot = { request_id: 7 }
    const reply_markup = { keyboard: [[{ text: 'Your own bot', request_managed_bot }]] }
    await ask('sendMessage', { text: 'Make one', reply_markup })
    await button('Your own bot').click()
    await dialog.getByLabel('Name', { exact: true }).fill('Cup')
    await dialog.getByLabel('Username').fill('cup_bot')
    await press('Make a bot')
    const { managed_bot_created } = await heard('message')
    t.match(managed_bot_created, { bot: { username: 'cup_bot' } })
  })
  t.same(complaints, [])
})
