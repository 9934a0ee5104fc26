/** GramIO behind the protocol of test/libraries/bot-process.ts. */
import { readFileSync } from 'node:fs'
import { Bot, MediaUpload, TelegramError, webhookHandler } from 'gramio'
import { listen, say, serve, started, versionOf, withFiles } from './wire.mjs'

const { address, key, webhook, allowed_updates } = await started()

// snippet
const bot = new Bot(key, { api: { baseURL: `${address}/bot` } })
bot.command('echo', (context) => context.send(`echo ${context.args}`))
// end

bot.use((context, next) => {
  say({ update: context.update })
  return next()
})

if (webhook) {
  const { port, url, secret } = webhook
  await listen(port, webhookHandler(bot, 'http', secret))
  await bot.start({ webhook: { url, secret_token: secret }, allowedUpdates: allowed_updates })
} else {
  await bot.start({ allowedUpdates: allowed_updates })
}
await serve(versionOf('gramio'), {
  call: (method, parameters) =>
    bot.api[method](
      withFiles(parameters, (path, name) => MediaUpload.buffer(readFileSync(path), name)),
    ),
  download: async (fileId) => new Uint8Array(await bot.downloadFile({ file_id: fileId })),
  refusalOf: (error) =>
    error instanceof TelegramError && {
      code: error.code,
      description: error.message,
      retry_after: error.payload?.retry_after,
    },
})
