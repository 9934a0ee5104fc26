/** Telegraf behind the protocol of test/libraries/bot-process.ts. */
import { Telegraf, TelegramError } from 'telegraf'
import { fetchBytes, listen, say, serve, started, versionOf, withFiles } from './wire.mjs'

const { address, key, webhook, allowed_updates } = await started()

// snippet
const bot = new Telegraf(key, { telegram: { apiRoot: address } })
bot.command('echo', (ctx) => ctx.reply(`echo ${ctx.payload}`))
bot.catch((error) => process.stderr.write(`${error.stack}\n`))
// end

bot.use((ctx) => say({ update: ctx.update }))

if (webhook) {
  const { port, path, url, secret } = webhook
  const handle = bot.webhookCallback(path, { secretToken: secret })
  await listen(port, (request, response) => handle(request, response))
  await bot.telegram.setWebhook(url, { secret_token: secret, allowed_updates })
} else {
  await new Promise((onLaunch, failed) => {
    bot.launch({ allowedUpdates: allowed_updates }, onLaunch).catch(failed)
  })
}
await serve(versionOf('telegraf'), {
  call: (method, parameters) =>
    bot.telegram.callApi(
      method,
      withFiles(parameters, (source, filename) => ({ source, filename })),
    ),
  download: async (fileId) => fetchBytes(await bot.telegram.getFileLink(fileId)),
  refusalOf: (error) =>
    error instanceof TelegramError && {
      code: error.code,
      description: error.description,
      retry_after: error.parameters?.retry_after,
    },
})
