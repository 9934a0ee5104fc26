/** node-telegram-bot-api 2 behind the protocol of test/libraries/bot-process.ts. */
import { Bot, TelegramApiError } from 'node-telegram-bot-api'
import { createWebhookServer, fromPath } from 'node-telegram-bot-api/node'
import { argumentsOf, fetchBytes, say, serve, started, versionOf, withFiles } from './wire.mjs'

const { address, key, webhook, allowed_updates } = await started()

// snippet
const bot = new Bot(key, { apiRoot: address })
bot.hears(/^\/echo (.+)/, (ctx) => ctx.reply(`echo ${ctx.match[1]}`))
// end

bot.use((ctx, next) => {
  say({ update: ctx.update })
  return next()
})

if (webhook) {
  const { port, path, url, secret } = webhook
  const server = createWebhookServer(bot, { path, secretToken: secret })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  await bot.api.setWebhook({ url, secret_token: secret, allowed_updates })
} else {
  void bot.startPolling(undefined, { allowedUpdates: allowed_updates, timeout: 20 })
}

async function withUploads(parameters) {
  const files = new Map()
  withFiles(parameters, (path) => files.set(path))
  for (const path of files.keys()) files.set(path, await fromPath(path))
  return argumentsOf(parameters, (path) => files.get(path))
}

await serve(versionOf('node-telegram-bot-api'), {
  call: async (method, parameters) => bot.api[method](...(await withUploads(parameters))),
  download: async (fileId) => {
    const { file_path } = await bot.api.getFile({ file_id: fileId })
    return fetchBytes(`${address}/file/bot${key}/${file_path}`)
  },
  refusalOf: (error) =>
    error instanceof TelegramApiError && {
      code: error.errorCode,
      description: error.description,
      retry_after: error.retryAfter,
    },
})
