/** Keyboards of a bot in the sandbox's messenger: pressed, answered, hidden and called back. */
import { Bot, Keyboard } from 'grammy'
import t from 'tap'
import { linkedAccount } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { type Looks, noBrowser, openBrowser, signIn, visit } from './browser.ts'

const keyboard = new Keyboard()
  .text('Tea')
  .requestContact('My number')
  .requestLocation('Here')
  .row()
  .requestUsers('Pick', 1)
  .requestPoll('Quiz', 'quiz')
  .text('Tea')
  .placeholder('What would you like?')
  .oneTime()

/** Asks what is wanted, then for whom. */
function waiter(key: string, url: string): Bot {
  const bot = new Bot(key, { client: { apiRoot: url } })
  // Without it the library stops at the first answer that asks for patience, as a machine at its limit may give.
  bot.api.config.use((call, ...asked) =>
    until(async () => {
      const answer = await call(...asked)
      return (answer.ok || answer.error_code !== 503) && answer
    }, 60_000),
  )
  bot.command('start', (ctx) => ctx.reply('Well?', { reply_markup: keyboard }))
  bot.hears('Tea', (ctx) => {
    const asking = { force_reply: true, input_field_placeholder: 'A name' } as const
    return ctx.reply('For whom?', { reply_markup: asking })
  })
  bot.on('message:contact', (ctx) => ctx.reply(`number ${ctx.msg.contact.phone_number}`))
  bot.on('message:location', (ctx) => ctx.reply(`at ${ctx.msg.location.latitude}`))
  bot.on('message:text', (ctx) => {
    const words = ctx.msg.reply_to_message ? `tea for ${ctx.msg.text}` : `heard ${ctx.msg.text}`
    return ctx.reply(words, { reply_markup: { remove_keyboard: true } })
  })
  return bot
}

t.test('the keys of a bot', { skip: noBrowser }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559311'
  const { client, bot: person, ada, key } = await linkedAccount(service, 'gatebot', phone)
  const bot = waiter(key, service.url)
  const polling = Promise.withResolvers<void>()
  bot.start({ onStart: () => polling.resolve(), timeout: 5 }).catch(polling.reject)
  t.teardown(() => bot.stop())
  await polling.promise
  const browser = await openBrowser()
  t.teardown(() => browser.close())

  /** At Ada's chat with the bot, which has just shown its keys. */
  const atKeys = async (looks: Looks, words: { field: string; keys: string }) => {
    const visitor = await visit(browser, service, looks)
    const { page } = visitor
    await signIn(visitor, service, phone)
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${person.id}`)
    const field = page.getByLabel(words.field, { exact: true })
    const keys = page.getByRole('group', { name: words.keys })
    const bubble = (text: string) => page.locator('.line', { hasText: text }).last()
    await field.waitFor()
    await client.write(ada.id, '@gatebot', '/start')
    await keys.waitFor()
    return { ...visitor, field, keys, bubble }
  }

  await t.test('are pressed, and what they ask for is given', async (t) => {
    const words = { field: 'Write a message', keys: 'Keyboard of the bot' }
    const { page, field, keys, bubble, complaints } = await atKeys({}, words)
    const key = (name: string) => keys.getByRole('button', { name })
    const toggle = page.getByRole('button', { name: words.keys })
    t.equal(await field.getAttribute('placeholder'), 'What would you like?')

    await key('My number').click()
    await bubble(`number ${ada.phone}`).waitFor()
    await keys.waitFor({ state: 'detached' })
    t.equal(await toggle.getAttribute('aria-expanded'), 'false', 'one for once is hidden')
    t.equal(await field.getAttribute('placeholder'), 'Write a message')
    await toggle.click()
    await keys.waitFor()

    await field.fill('a draft')
    await key('Here').click()
    await page.locator('.dialog').getByRole('button', { name: 'Send' }).click()
    await page.locator('.dialog').waitFor({ state: 'detached' })
    await bubble('at 35.69').waitFor()
    t.equal(await field.inputValue(), 'a draft', 'what is being written stays')
    t.equal(await page.locator('.line', { hasText: 'a draft' }).count(), 0)
    await field.fill('')

    await key('Tea').first().press('Enter')
    await bubble('For whom?').waitFor()
    await page.locator('.composer .chip', { hasText: 'For whom?' }).waitFor()
    t.equal(await field.getAttribute('placeholder'), 'A name')
    t.equal(await toggle.count(), 0)
    await field.fill('Ada')
    await field.press('Enter')
    await bubble('tea for Ada').waitFor()
    await page.locator('.composer .chip').waitFor({ state: 'detached' })
    await page.getByPlaceholder('Write a message').waitFor()
    t.same(complaints, [])
  })

  await t.test('say in a group whom they answer', async (t) => {
    const words = { field: 'Write a message', keys: 'Keyboard of the bot' }
    const { page, keys, bubble } = await atKeys({}, words)
    const group = { kind: 'supergroup', title: 'Team', owner: ada.id, members: [person.id] }
    const { id: chat_id } = await client.result('POST', '/sandbox/chats', group)
    const reply_markup = { keyboard: [[{ text: 'Tea' }]], is_persistent: true }
    const sent = await client.bot(key, 'sendMessage', { chat_id, text: 'Team?', reply_markup })
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${chat_id}`)
    await keys.getByRole('button', { name: 'Tea' }).click()
    await bubble('For whom?').waitFor()
    const { messages } = await client.result('GET', `/sandbox/people/${ada.id}/inbox`)
    const pressed = messages.find((one: { text?: string }) => one.text === 'Tea')
    t.equal(pressed.reply_to_message_id, sent.body.result.message_id)
  })

  await t.test('fit on a phone, in Persian', async (t) => {
    const looks = { language: 'fa', width: 390, height: 844 } as const
    const words = { field: 'پیامی بنویسید', keys: 'صفحه‌کلید بات' }
    const { page, keys, complaints } = await atKeys(looks, words)
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    await keys.getByRole('button', { name: 'Tea' }).first().focus()
    await page.keyboard.press('Space')
    await page.locator('.composer .chip', { hasText: 'For whom?' }).waitFor()
    t.same(complaints, [])
  })
})
