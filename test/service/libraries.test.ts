/** Bots written with the libraries people use, against the running service. */
import { Bot, GrammyError, InlineKeyboard, Keyboard } from 'grammy'
import t from 'tap'
import { Telegraf } from 'telegraf'
import { message } from 'telegraf/filters'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { troubledAccount } from './scene.ts'

const service = await startService(t)

interface Shown {
  readonly message_id: number
  readonly text: string
  readonly from: { readonly id: number }
  readonly inline_keyboard?: readonly unknown[]
}

async function account(name: string) {
  const account = await troubledAccount(service, name)
  const { client, ada, bot } = account
  /** What the bot has written to Ada, newest first. */
  const written = async (): Promise<Shown[]> =>
    (await client.result('GET', `/sandbox/people/${ada.id}/inbox`)).messages.filter(
      ({ from }: Shown) => from.id === bot.id,
    )
  return {
    ...account,
    heard: async () => (await written()).map(({ text }) => text).reverse(),
    hears: (text: string) =>
      until(async () => (await written()).find((shown) => shown.text === text), 20_000),
  }
}

/** A bot that polls from now until the test ends. */
async function start(t: { teardown(work: () => Promise<void>): void }, bot: Bot): Promise<void> {
  const polling = new Promise<void>((resolve, reject) => {
    bot.start({ onStart: () => resolve(), timeout: 5 }).catch(reject)
  })
  t.teardown(() => bot.stop())
  await polling
}

await t.test('a long poll across a restart of the service loses and doubles nothing', async (t) => {
  const { key, write, hears, heard } = await account('lasting_bot')
  const bot = new Bot(key, { client: { apiRoot: service.url } })
  bot.on('message:text', (ctx) => ctx.reply(`re: ${ctx.msg.text}`))
  await start(t, bot)
  await write('before')
  await hears('re: before')
  await service.restart()
  await write('after 1')
  await write('after 2')
  await hears('re: after 2')
  t.same(await heard(), ['re: before', 're: after 1', 're: after 2'])
})

// Bots take their time to stop.
t.jobs = 4

t.test('a grammY bot echoes, obeys commands and sees edits', async (t) => {
  const { client, key, ada, bot: person, write, hears } = await account('grammy_bot')
  const bot = new Bot(key, { client: { apiRoot: service.url } })
  bot.command('start', (ctx) => ctx.reply(`welcome ${ctx.from?.first_name} ${ctx.match}`))
  bot.on('message:text', (ctx) =>
    ctx.reply(ctx.msg.text, { reply_parameters: { message_id: ctx.msgId } }),
  )
  bot.on('edited_message:text', (ctx) => ctx.reply(`now: ${ctx.msg.text}`))
  await start(t, bot)
  t.match(bot.botInfo, { is_bot: true, username: 'grammy_bot', id: person.id })
  await write('/start now')
  await hears('welcome Ada now')
  const { message_id } = await write('hello')
  t.match(await hears('hello'), { reply_to_message_id: message_id })
  const path = `/sandbox/people/${ada.id}/chats/${person.id}/messages/${message_id}`
  await client.result('PATCH', path, { text: 'hullo' })
  await hears('now: hullo')
})

t.test('buttons are shown, pressed and answered', async (t) => {
  const { client, key, ada, bot: person, write, hears } = await account('button_bot')
  const bot = new Bot(key, { client: { apiRoot: service.url } })
  const keyboard = new InlineKeyboard().text('Yes', 'choice:yes').text('No', 'choice:no')
  bot.command('ask', (ctx) => ctx.reply('Well?', { reply_markup: keyboard }))
  bot.callbackQuery(/^choice:(.+)$/, async (ctx) => {
    await ctx.editMessageText(`You said ${ctx.match[1]}`)
    await ctx.answerCallbackQuery({ text: 'noted', show_alert: true })
  })
  await start(t, bot)
  await write('/ask')
  const question = await hears('Well?')
  t.match(question.inline_keyboard, [[{ text: 'Yes' }, { text: 'No', callback_data: 'choice:no' }]])
  const pressed = await client.result('POST', `/sandbox/people/${ada.id}/presses`, {
    chat: person.id,
    message_id: question.message_id,
    callback_data: 'choice:no',
  })
  t.match(pressed, { answered: true, text: 'noted', show_alert: true })
  t.match(await hears('You said no'), { message_id: question.message_id })
})

t.test('a keyboard is shown, used and taken away', async (t) => {
  const { client, key, ada, write, hears } = await account('keyboard_bot')
  const bot = new Bot(key, { client: { apiRoot: service.url } })
  const keyboard = new Keyboard().text('Tea').requestContact('My number').resized().oneTime()
  bot.command('start', (ctx) => ctx.reply('What?', { reply_markup: keyboard }))
  bot.hears('Tea', (ctx) => ctx.reply('Who?', { reply_markup: { force_reply: true } }))
  bot.on('message:text', (ctx) =>
    ctx.reply(`for ${ctx.msg.text}`, { reply_markup: { remove_keyboard: true } }),
  )
  await start(t, bot)
  const standing = async () =>
    (await client.result('GET', `/sandbox/people/${ada.id}/inbox`)).keyboards
  await write('/start')
  await hears('What?')
  const rows = [[{ text: 'Tea' }, { text: 'My number', request_contact: true }]]
  t.match(await standing(), [{ keyboard: rows, resize_keyboard: true, used: false }])
  await write('Tea')
  await hears('Who?')
  t.match(await standing(), [{ force_reply: true }])
  await write('Ada')
  await hears('for Ada')
  t.strictSame(await standing(), [])
})

t.test('grammY maps the errors', async (t) => {
  const { client, key, credentialId, ada, fault, state } = await account('failing_bot')
  const { api } = new Bot(key, { client: { apiRoot: service.url } })
  const rejects = async (call: Promise<unknown>, wanted: object) => {
    const error = await call.then(
      () => undefined,
      (cause: unknown) => cause,
    )
    t.ok(error instanceof GrammyError)
    t.match(error, wanted)
  }
  await rejects(api.sendMessage('@nobody_at_all', 'x'), {
    error_code: 400,
    description: 'Bad Request: chat not found',
    method: 'sendMessage',
  })
  await rejects(api.sendMessage(ada.id, '<b>x', { parse_mode: 'HTML' }), {
    error_code: 400,
    description: `Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"`,
  })
  const receiving = (await client.key(credentialId, ['bot:receive'])).key
  const mute = new Bot(receiving, { client: { apiRoot: service.url } })
  await rejects(mute.api.sendMessage(ada.id, 'x'), {
    error_code: 403,
    description: 'Forbidden: the key lacks the scope bot:send',
  })
  // A method newer than the library's types.
  const raw = api.raw as unknown as Record<string, (payload: object) => Promise<unknown>>
  await rejects(raw.sendWidget!({ chat_id: ada.id, html: 'x' }), {
    error_code: 400,
    description: 'Bad Request: method sendWidget not found on Sandbox: the network has no widgets',
  })
  const wrong = new Bot(`${key.slice(0, -3)}xyz`, { client: { apiRoot: service.url } })
  await rejects(wrong.api.getMe(), { error_code: 401, description: 'Unauthorized' })
  await fault('flood_wait', { seconds: 30 })
  await state('degraded')
  await rejects(api.sendMessage(ada.id, 'x'), { error_code: 429, parameters: { retry_after: 30 } })
})

t.test('a telegraf bot echoes, obeys commands, and answers buttons', async (t) => {
  const { client, key, ada, bot: person, write, hears } = await account('telegraf_bot')
  const bot = new Telegraf(key, { telegram: { apiRoot: service.url } })
  bot.command('ask', (ctx) =>
    ctx.replyWithHTML('<b>Well?</b>', {
      reply_markup: { inline_keyboard: [[{ text: 'Go', callback_data: 'go' }]] },
    }),
  )
  bot.action('go', async (ctx) => {
    await ctx.answerCbQuery('gone')
    await ctx.editMessageText('went')
  })
  bot.on(message('text'), (ctx) => ctx.reply(`tele ${ctx.message.text}`))
  const launched = Promise.withResolvers<void>()
  const ended = bot.launch(() => launched.resolve())
  t.teardown(() => {
    bot.stop('over')
    return ended
  })
  await launched.promise
  await write('hello')
  await hears('tele hello')
  await write('/ask')
  const { message_id } = await hears('Well?')
  const press = { chat: person.id, message_id, callback_data: 'go' }
  const pressed = await client.result('POST', `/sandbox/people/${ada.id}/presses`, press)
  t.match(pressed, { answered: true, text: 'gone' })
  await hears('went')
})
