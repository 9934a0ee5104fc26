/** grammY behind the protocol of test/libraries/bot-process.ts. */
import { Bot, GrammyError, InputFile, webhookCallback } from 'grammy'
import { argumentsOf, fetchBytes, listen, say, serve, started, versionOf } from './wire.mjs'

const { address, key, webhook, allowed_updates } = await started()

// snippet
const bot = new Bot(key, { client: { apiRoot: address } })
bot.command('echo', (ctx) => ctx.reply(`echo ${ctx.match}`))
bot.catch(({ error }) => process.stderr.write(`${error.stack}\n`))
// end

bot.use((ctx) => say({ update: ctx.update }))

if (webhook) {
  const { port, url, secret } = webhook
  await listen(port, webhookCallback(bot, 'http', { secretToken: secret }))
  await bot.api.setWebhook(url, { secret_token: secret, allowed_updates })
} else {
  await new Promise((onStart) => void bot.start({ onStart, allowed_updates }))
}
await serve(versionOf('grammy'), {
  call: (method, parameters) =>
    bot.api.raw[method](...argumentsOf(parameters, (path, name) => new InputFile(path, name))),
  download: async (fileId) => {
    const { file_path } = await bot.api.getFile(fileId)
    return fetchBytes(`${address}/file/bot${key}/${file_path}`)
  },
  refusalOf: (error) =>
    error instanceof GrammyError && {
      code: error.error_code,
      description: error.description,
      retry_after: error.parameters.retry_after,
    },
})
