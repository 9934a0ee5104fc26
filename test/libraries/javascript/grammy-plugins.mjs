/** grammY with its plugins behind the protocol of test/libraries/bot-process.ts. */
import { CommandGroup, commands } from '@grammyjs/commands'
import { conversations, createConversation } from '@grammyjs/conversations'
import { hydrateFiles } from '@grammyjs/files'
import { Menu } from '@grammyjs/menu'
import { run, sequentialize } from '@grammyjs/runner'
import { stream } from '@grammyjs/stream'
import { Bot, GrammyError, InputFile, webhookCallback } from 'grammy'
import { argumentsOf, fetchBytes, listen, say, serve, started, versionOf } from './wire.mjs'

const { address, key, webhook, allowed_updates } = await started()

// snippet
const bot = new Bot(key, { client: { apiRoot: address } })
bot.api.config.use(hydrateFiles(key, { apiRoot: address }))
bot.use(sequentialize((ctx) => ctx.chat?.id.toString()))
bot.use(commands(), conversations(), stream())

bot.use(
  createConversation(async (conversation, ctx) => {
    await ctx.reply('What is your name?')
    const { message } = await conversation.waitFor('message:text')
    await ctx.reply(`Hello ${message.text}`)
  }, 'greeting'),
)
const menu = new Menu('tea').text('Green', (ctx) => ctx.editMessageText('Green it is'))
bot.use(menu)

const group = new CommandGroup()
group.command('greet', 'Asks for a name', (ctx) => ctx.conversation.enter('greeting'))
group.command('tea', 'Shows a menu', (ctx) => ctx.reply('Which tea?', { reply_markup: menu }))
group.command('tell', 'Tells in pieces', (ctx) => ctx.replyWithStream(['Once ', 'upon ', 'a time']))
bot.use(group)
// end

bot.command('echo', (ctx) => ctx.reply(`echo ${ctx.match}`))
bot.use((ctx) => say({ update: ctx.update }))
bot.catch(({ error }) => process.stderr.write(`${error.stack}\n`))
await bot.init()
await group.setCommands(bot)

if (webhook) {
  const { port, url, secret } = webhook
  await listen(port, webhookCallback(bot, 'http', { secretToken: secret }))
  await bot.api.setWebhook(url, { secret_token: secret, allowed_updates })
} else {
  run(bot, { runner: { fetch: { allowed_updates } } })
}
await serve(versionOf('grammy'), {
  call: (method, parameters) =>
    bot.api.raw[method](...argumentsOf(parameters, (path, name) => new InputFile(path, name))),
  // The plugin's own download speaks https alone; its address of the file is right.
  download: async (fileId) => fetchBytes((await bot.api.getFile(fileId)).getUrl()),
  refusalOf: (error) =>
    error instanceof GrammyError && { code: error.error_code, description: error.description },
})
