/** The sandbox page in a real browser: both sides of a conversation, a group, and faults. */
import type { Locator } from 'playwright-core'
import sharp from 'sharp'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'

const seenWithin = (place: Locator, timeout: number) =>
  place.waitFor({ timeout }).then(
    () => true,
    () => false,
  )

const grey = { width: 16, height: 16, channels: 3, background: '#888' } as const

t.test('a developer talks with their bot', { skip: noBrowser }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559301'
  const client = await service.client(phone)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page, complaints } = visitor
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const bubble = (text: string) => page.locator('.line', { hasText: text }).last()
  const say = async (text: string) => {
    await page.getByLabel('Write a message').fill(text)
    await page.keyboard.press('Enter')
  }
  const act = async (text: string, item: string) => {
    await bubble(text).hover()
    await bubble(text).getByRole('button', { name: 'What to do with this message' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await signIn(visitor, service, phone)

  await t.test('where nobody lives, a person is made', async () => {
    await page.goto('/dashboard/sandbox')
    await page.getByText('Nobody lives here yet').waitFor()
    await button('New person').click()
    await page.getByLabel('Name', { exact: true }).fill('Ada')
    await page.getByLabel('Phone (optional)').fill('+۱۴۱۵۵۵۵۹۷۷۷')
    await page.getByLabel('Username (optional)').fill('ada_l')
    await page.locator('.dialog button[type=submit]').click()
    await page.getByText('Choose a chat').waitFor()
    await page.getByText('@ada_l · +14155559777').first().waitFor()
  })

  const bot = await client.person('Shop', 'shop_bot')
  const { key } = await client.key(await client.link(bot))
  const updates = async (offset?: number) => {
    const { body } = await client.bot(key, 'getUpdates', { offset, timeout: 40 })
    return body.result
  }
  let ada = 0
  let next = 0

  await t.test('what is written reaches the bot, and what the bot does is seen', async (t) => {
    await page.reload()
    await button('New chat').first().click()
    await page.locator('.dialog').getByText('@shop_bot').click()
    await say('Is it open?')
    await bubble('Is it open?').waitFor()
    const [update] = await updates()
    t.match(update.message, { text: 'Is it open?', from: { first_name: 'Ada' } })
    ada = update.message.chat.id
    next = update.update_id + 1
    // It shows for six seconds, which a busy machine may miss.
    await until(async () => {
      await client.bot(key, 'sendChatAction', { chat_id: ada, action: 'typing' })
      return await seenWithin(page.getByText('Shop is typing…'), 5_000)
    }, 60_000)
    const { body } = await client.bot(key, 'sendMessage', {
      chat_id: ada,
      text: 'Yes. *Order*?',
      parse_mode: 'Markdown',
      reply_markup: { inline_keyboard: [[{ text: 'Order', callback_data: 'order' }]] },
    })
    t.equal(await bubble('Yes.').locator('strong').innerText(), 'Order')
    await button('Order').click()
    const [pressed] = await updates(next)
    t.match(pressed.callback_query, { data: 'order', from: { id: ada } })
    next = pressed.update_id + 1
    const answer = { callback_query_id: pressed.callback_query.id, text: 'It is on its way' }
    await client.bot(key, 'answerCallbackQuery', answer)
    await page.getByText('It is on its way').waitFor()
    const { message_id } = body.result
    await client.bot(key, 'editMessageText', { chat_id: ada, message_id, text: 'Ordered' })
    await bubble('Ordered').getByText('edited').waitFor()
    await client.bot(key, 'deleteMessage', { chat_id: ada, message_id })
    await bubble('Ordered').waitFor({ state: 'detached' })
  })

  await t.test('messages are answered, changed, reacted to and deleted', async (t) => {
    await client.bot(key, 'sendMessage', { chat_id: ada, text: 'Anything else?' })
    await act('Anything else?', 'Reply')
    await say('A teapot')
    const [reply] = await updates(next)
    t.match(reply.message.reply_to_message, { text: 'Anything else?' })
    await act('A teapot', 'Edit')
    await say('Two teapots')
    const [edited] = await updates(reply.update_id + 1)
    t.match(edited.edited_message, { text: 'Two teapots' })
    await act('Anything else?', 'React with 👍')
    await bubble('Anything else?').locator('.reaction', { hasText: '👍' }).waitFor()
    await act('Two teapots', 'Delete for everybody')
    await bubble('Two teapots').waitFor({ state: 'detached' })
    next = edited.update_id + 1
  })

  await t.test('a picture is sent from a file and shown', async (t) => {
    const buffer = await sharp({ create: grey }).png().toBuffer()
    const file = { name: 'dot.png', mimeType: 'image/png', buffer }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('dot.png').waitFor()
    await say('Like this')
    await bubble('Like this').locator('img[src^="blob:"]').waitFor()
    const received = await until(async () => {
      const found = await updates(next)
      next = found.at(-1)?.update_id + 1
      return found.find((one: { message?: { photo?: object } }) => one.message?.photo)
    })
    t.match(received.message, { caption: 'Like this', photo: [{ file_id: String }] })
  })

  await t.test('a group is made with the bot in it', async (t) => {
    await button('New chat').first().click()
    await page.getByLabel('Kind').selectOption('supergroup')
    await page.getByLabel('Title').fill('Team')
    await page.getByRole('checkbox', { name: 'Shop' }).check()
    await button('Make it').click()
    await page.getByRole('heading', { name: 'Team' }).waitFor()
    await say('Hello team')
    const heard = await until(async () => {
      const found = await updates(next)
      next = (found.at(-1)?.update_id ?? next - 1) + 1
      return found.find((one: { message?: { text?: string } }) => one.message?.text)
    })
    t.match(heard.message, { text: 'Hello team', chat: { title: 'Team', type: 'supergroup' } })
  })

  await t.test('a fault is put on the account and taken off', async (t) => {
    await page.goto(`/dashboard/sandbox?as=${ada}&chat=${bot.id}`)
    await page.getByRole('button', { name: /^Faults for/ }).click()
    const dialog = dialogOf(page)
    await dialog.getByRole('switch', { name: 'Silence' }).click()
    await dialog.locator('[role=switch][aria-checked=true]').waitFor()
    await dialog.getByLabel('Answer slowly').fill('50')
    await dialog
      .locator('form', { hasText: 'Answer slowly' })
      .getByRole('button', { name: 'Put on' })
      .click()
    await dialog.getByText('50 ms', { exact: true }).waitFor()
    const faults = () => client.result('GET', `/sandbox/people/${bot.id}/faults`)
    t.match(await faults(), { silence: {}, delay: { milliseconds: 50 } })
    await dialog.getByRole('button', { name: 'Take all off' }).click()
    await dialog.locator('[role=switch][aria-checked=true]').waitFor({ state: 'detached' })
    t.same(await faults(), {})
  })

  t.same(complaints, [], 'no script fails, and the content policy stops nothing')
})
