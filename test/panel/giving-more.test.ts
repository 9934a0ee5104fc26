/** What people of the sandbox page give beside text: a contact, a die, a voice, a quote, a task, and words for one alone. */
import t from 'tap'
import { callWithFiles, picture, soundOf } from '../service/files.ts'
import { until } from '../support/client.ts'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

t.test('a person gives what a messenger can', { skip: noBrowser, timeout: 200_000 }, async (t) => {
  const stage = await chatScene(t, '+14155559652')
  const { page, client, bot, ada, ask, heard, dialog, button, line, field, complaints } = stage
  const attach = async (item: string) => {
    await button('Attach').click()
    await page.getByRole('menuitem', { name: item, exact: true }).click()
  }

  await t.test('the contact of somebody', async (t) => {
    await attach('Contact')
    t.same(await seriousIn(page), [])
    await dialog.getByRole('button', { name: 'Send' }).click()
    await line(ada.phone).waitFor()
    const { contact } = await heard('message')
    t.match(contact, { first_name: 'Ada', user_id: ada.id, phone_number: String })
  })

  await t.test('a thrown die, of which the bot is told the value', async (t) => {
    await attach('Dice')
    await dialog.getByRole('button', { name: 'Throw 🎯' }).click()
    await page.locator('.bubble .dice', { hasText: '🎯' }).waitFor()
    t.match(await heard('message'), { dice: { emoji: '🎯', value: Number } })
  })

  await t.test('a recorded file, as a voice message', async (t) => {
    const choosing = page.waitForEvent('filechooser')
    await attach('Voice message')
    const file = { name: 'hello.ogg', mimeType: 'audio/ogg', buffer: soundOf.ogg }
    await (await choosing).setFiles(file)
    await page.locator('.line .recording').waitFor()
    t.match(await heard('message'), { voice: { mime_type: 'audio/ogg' } })
  })

  await t.test('an answer that quotes a part, which must stand in the message', async (t) => {
    await ask('sendMessage', { text: 'Green tea or black tea?' })
    await line('Green tea').hover()
    await line('Green tea').getByRole('button', { name: 'What to do with this message' }).click()
    await page.getByRole('menuitem', { name: 'Reply' }).click()
    await button('Quote a part').click()
    const part = page.getByLabel('Part to quote')
    await part.fill('white tea')
    await page.getByText('The message does not say this').waitFor()
    await part.fill('black tea')
    await field.fill('This one')
    await field.press('Enter')
    await line('This one').locator('.quoted', { hasText: 'black tea' }).waitFor()
    t.match(await heard('message'), {
      text: 'This one',
      quote: { text: 'black tea', position: 13 },
      reply_to_message: { text: 'Green tea or black tea?' },
    })
  })

  const group = { kind: 'supergroup', title: 'Kitchen', owner: ada.id, members: [bot.id] }
  const { id: chat } = await client.result('POST', '/sandbox/chats', group)
  await client.result('PUT', `/sandbox/chats/${chat}/members/${bot.id}`, { role: 'admin' })
  await client.result('PUT', `/sandbox/people/${ada.id}/chats/${chat}/members/${bot.id}/title`, {
    title: 'cook',
  })
  await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${chat}`)
  await field.waitFor()

  await t.test('words that the bot alone sees in a group', async (t) => {
    await attach('For one member alone')
    await dialog.getByLabel('Who sees it').selectOption({ label: 'Bot' })
    await dialog.getByLabel('Text').fill('Is there sugar?')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await line('Is there sugar?').getByText('Only Bot can see this').waitFor()
    const message = await until(async () => {
      const found = await heard('message')
      return found.text === 'Is there sugar?' ? found : undefined
    }, 60_000)
    t.match(message, { ephemeral_message_id: Number, chat: { id: chat } })
  })

  await t.test('a task for the list of the bot', async (t) => {
    const tasks = [{ id: 1, text: 'tea' }]
    const checklist = { title: 'Buy', tasks, others_can_add_tasks: true }
    await ask('sendChecklist', { chat_id: chat, checklist })
    await line('Buy').getByLabel('New task').fill('sugar')
    await line('Buy').getByRole('button', { name: 'Add the task' }).click()
    await line('Buy').getByRole('button', { name: /sugar/ }).waitFor()
    const added = await until(async () => (await heard('message')).checklist_tasks_added, 60_000)
    t.match(added, { tasks: [{ text: 'sugar' }] })
  })

  await t.test('what is pinned stands above, and titles beside the members', async (t) => {
    const { message_id } = await ask('sendMessage', { chat_id: chat, text: 'Wash your hands' })
    await ask('pinChatMessage', { chat_id: chat, message_id })
    await page.locator('.pinned', { hasText: 'Wash your hands' }).waitFor()
    await button('Members').click()
    await dialog.locator('.record', { hasText: 'Bot' }).getByText('cook', { exact: true }).waitFor()
    t.same(await seriousIn(page), [])
    await dialog.getByRole('button', { name: 'Close' }).click()
  })

  await t.test('Premium and the emoji of a status stand beside a name', async (t) => {
    const sticker = { sticker: 'attach://cup', format: 'static', emoji_list: ['🍵'] }
    const made = await callWithFiles(
      ...([stage.service.url, stage.key, 'createNewStickerSet'] as const),
      {
        ...{ user_id: ada.id, name: 'cups_by_gatebot', title: 'Cups', stickers: [sticker] },
        sticker_type: 'custom_emoji',
      },
      { cup: { bytes: await picture(100, 100), name: 'cup.png' } },
    )
    t.match(made, { status: 200 })
    const { stickers } = await ask('getStickerSet', { name: 'cups_by_gatebot' })
    const allowed = `/sandbox/people/${ada.id}/emoji_status_access/${bot.id}`
    await client.result('PUT', allowed, { allowed: true })
    const emoji_status_custom_emoji_id = stickers[0].custom_emoji_id
    await ask('setUserEmojiStatus', { user_id: ada.id, emoji_status_custom_emoji_id })
    await ask('giftPremiumSubscription', { user_id: ada.id, month_count: 3, star_count: 1000 })
    t.match(await client.result('GET', `/sandbox/people/${ada.id}`), {
      is_premium: true,
      emoji_status_custom_emoji_id,
    })
    await page.goto(`/dashboard/sandbox?as=${bot.id}&chat=${ada.id}`)
    await page.locator('.window h2 [title="Premium"]').waitFor()
    await page.locator('.window h2 [title="Emoji status"] img[src^="blob:"]').waitFor()
  })

  t.same(complaints, [])
})
