/** The first lines of a bot, for the libraries that people use, with this service's address. */
export interface Snippet {
  readonly name: string
  readonly code: string
}

export const snippets = (base: string, key: string): readonly Snippet[] => [
  {
    name: 'grammY',
    code: `import { Bot } from 'grammy'

const bot = new Bot('${key}', {
  client: { apiRoot: '${base}' },
})
bot.on('message:text', (ctx) => ctx.reply(ctx.message.text))
bot.start()`,
  },
  {
    name: 'Telegraf',
    code: `import { Telegraf } from 'telegraf'

const bot = new Telegraf('${key}', {
  telegram: { apiRoot: '${base}' },
})
bot.on('text', (ctx) => ctx.reply(ctx.message.text))
bot.launch()`,
  },
  {
    name: 'python-telegram-bot',
    code: `from telegram.ext import ApplicationBuilder, MessageHandler, filters

async def echo(update, context):
    await update.message.reply_text(update.message.text)

app = (
    ApplicationBuilder()
    .token("${key}")
    .base_url("${base}/bot")
    .base_file_url("${base}/file/bot")
    .build()
)
app.add_handler(MessageHandler(filters.TEXT, echo))
app.run_polling()`,
  },
  {
    name: 'curl',
    code: `curl '${base}/bot${key}/getMe'

curl '${base}/bot${key}/sendMessage' \\
  -H 'content-type: application/json' \\
  -d '{"chat_id": "@username", "text": "Hello"}'`,
  },
]
