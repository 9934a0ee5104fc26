/** The topics of a forum in the sandbox page: one is begun, read, written to, closed, changed and deleted. */
import t from 'tap'
import { callWithFiles, picture } from '../service/files.ts'
import { until } from '../support/client.ts'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

t.test('a person talks with a bot in a forum', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const stage = await chatScene(t, '+14155559641')
  const { page, client, ada, bot, heard, dialog, button, line, field, complaints } = stage
  const chat: { id: number; is_forum: boolean } = await (async () => {
    await button('New chat').click()
    await dialog.getByLabel('Kind').selectOption('supergroup')
    await dialog.getByLabel('Title').fill('Tea club')
    await dialog.getByRole('switch', { name: 'With topics' }).click()
    await dialog.getByRole('checkbox', { name: /^Bot/ }).check()
    await dialog.getByRole('button', { name: 'Make it' }).click()
    await page.getByRole('group', { name: 'Topics' }).waitFor()
    const { items } = await client.result('GET', '/sandbox/chats')
    return items[0]
  })()
  const path = `/sandbox/people/${ada.id}/chats/${chat.id}`
  const topics = page.getByRole('group', { name: 'Topics' })
  const tab = (name: string) => topics.getByRole('button', { name, exact: true })
  const menu = async (name: string, item: string) => {
    await topics.getByRole('button', { name: `What to do with the topic ${name}` }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  const listed = () => client.result('GET', `/sandbox/chats/${chat.id}/topics`)
  const write = async (text: string) => {
    await field.fill(text)
    await page.keyboard.press('Enter')
    await line(text).waitFor()
  }
  await client.result('PUT', `/sandbox/chats/${chat.id}/members/${bot.id}`, { role: 'admin' })

  await t.test('a group made with topics is a forum', async (t) => {
    t.equal(chat.is_forum, true)
  })

  await t.test('a topic is begun, and what is written there stands in it', async (t) => {
    await topics.getByRole('button', { name: 'New topic' }).click()
    await dialog.getByLabel('Name').fill('Green tea')
    await dialog.getByRole('radio', { name: 'Violet' }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.locator('.topics [aria-pressed="true"]', { hasText: 'Green tea' }).waitFor()
    const [topic] = await listed()
    t.match(topic, { name: 'Green tea', icon_color: 0xcb86db, is_closed: false })
    await write('How long does it steep?')
    let message: { text?: string; message_thread_id?: number } = {}
    while (message.text !== 'How long does it steep?') message = await heard('message')
    t.equal(message.message_thread_id, topic.message_thread_id)
  })

  await t.test('each topic shows its own messages, and all of them stand together', async (t) => {
    await tab('General').click()
    await line('How long').waitFor({ state: 'detached' })
    await write('Who brings cups?')
    let message: { text?: string; message_thread_id?: number } = {}
    while (message.text !== 'Who brings cups?') message = await heard('message')
    t.equal(message.message_thread_id, undefined)
    await page.locator('.topics .button', { hasText: 'Green tea' }).click()
    await line('Who brings cups?').waitFor({ state: 'detached' })
    await line('How long does it steep?').waitFor()
    await page.reload()
    await line('How long does it steep?').waitFor()
    t.equal(await line('Who brings cups?').count(), 0, 'the address keeps the topic')
    await tab('All').click()
    await line('Who brings cups?').waitFor()
    await line('How long does it steep?').getByText('# Green tea').waitFor()
  })

  await t.test('an answer goes to the topic of the message that it answers', async (t) => {
    await line('How long').hover()
    await line('How long').getByRole('button', { name: 'What to do with this message' }).click()
    await page.getByRole('menuitem', { name: 'Reply' }).click()
    await write('Three minutes')
    const [topic] = await listed()
    let message: { text?: string; message_thread_id?: number } = {}
    while (message.text !== 'Three minutes') message = await heard('message')
    t.equal(message.message_thread_id, topic.message_thread_id)
  })

  await t.test('a topic is closed, opened again, and given a name and an icon', async (t) => {
    const sticker = { sticker: 'attach://cup', format: 'static', emoji_list: ['🍵'] }
    const set = { user_id: ada.id, name: 'tea_by_gatebot', title: 'Tea', stickers: [sticker] }
    const made = await callWithFiles(
      ...([stage.service.url, stage.key, 'createNewStickerSet'] as const),
      { ...set, sticker_type: 'custom_emoji' },
      { cup: { bytes: await picture(100, 100), name: 'cup.png' } },
    )
    t.match(made, { status: 200 })
    await page.reload()
    await page.locator('.topics .button', { hasText: 'Green tea' }).click()
    await menu('Green tea', 'Close')
    await page.locator('.topics .button', { hasText: 'Green teaclosed' }).waitFor()
    t.match(await listed(), [{ is_closed: true }])
    await menu('Green tea', 'Open again')
    await page
      .locator('.topics .button', { hasText: 'Green teaclosed' })
      .waitFor({ state: 'detached' })
    await menu('Green tea', 'Edit')
    await dialog.getByLabel('Name').fill('Tea of all colours')
    await dialog.getByRole('radio', { name: 'Custom emoji for 🍵' }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.locator('.topics .button', { hasText: 'Tea of all colours' }).waitFor()
    await page.locator('.topics img[src^="blob:"]').waitFor()
    const look = { name: 'Tea of all colours', icon_custom_emoji_id: String, is_closed: false }
    t.match(await listed(), [look])
    t.same(await seriousIn(page), [])
  })

  await t.test('a topic that a bot begins comes by itself', async () => {
    await stage.ask('createForumTopic', { chat_id: chat.id, name: 'News' })
    await page.locator('.topics .button', { hasText: 'News' }).waitFor()
  })

  await t.test('the general topic is closed and renamed', async (t) => {
    await tab('General').click()
    await menu('General', 'Close')
    const general = async () =>
      (await client.result('GET', `/sandbox/chats/${chat.id}`)).general_topic
    await until(async () => ((await general()).is_closed ? true : undefined), 60_000)
    await page.locator('.topics .button', { hasText: 'Generalclosed' }).waitFor()
    await menu('General', 'Edit')
    await dialog.getByLabel('Name').fill('Everything')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.locator('.topics .button', { hasText: 'Everything' }).waitFor()
    t.match(await general(), { name: 'Everything', is_closed: true, is_hidden: false })
  })

  await t.test('a topic goes with its messages', async (t) => {
    await page.locator('.topics .button', { hasText: 'Tea of all colours' }).click()
    await menu('Tea of all colours', 'Delete the topic')
    await dialog.getByRole('button', { name: 'Delete the topic' }).click()
    await page
      .locator('.topics .button', { hasText: 'Tea of all colours' })
      .waitFor({ state: 'detached' })
    await line('How long').waitFor({ state: 'detached' })
    t.match(await listed(), [{ name: 'News' }])
    const refused = await client.ask('DELETE', `${path}/topics/999999`)
    t.equal(refused.status, 400)
  })

  t.same(complaints, [], 'no script fails, and the content policy stops nothing')
})
