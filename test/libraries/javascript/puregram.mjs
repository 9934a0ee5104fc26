/** puregram behind the protocol of test/libraries/bot-process.ts. */
import puregram from 'puregram'
import { Absent, fetchBytes, listen, say, serve, started, versionOf, withFiles } from './wire.mjs'

const { MediaSource, Telegram } = puregram
const { address, key, webhook, allowed_updates } = await started()

// snippet
const telegram = new Telegram({ token: key, apiBaseUrl: `${address}/bot` })
telegram.updates.on('message', (context, next) => {
  const [command, ...words] = context.text?.split(' ') ?? []
  return command === '/echo' ? context.send(`echo ${words.join(' ')}`) : next()
})
// end

telegram.updates.use((context, next) => {
  say({ update: context.update })
  return next()
})

if (webhook) {
  const { port, url, secret } = webhook
  await listen(port, telegram.updates.getWebhookMiddleware(secret))
  await telegram.api.setWebhook({ url, secret_token: secret, allowed_updates })
} else {
  // Given to startPolling they are forgotten when it begins again after an error.
  telegram.options.allowedUpdates = allowed_updates
  await telegram.updates.startPolling()
}
await serve(versionOf('puregram'), {
  call: async (method, parameters) => {
    // It sends files only in the parameters that it lists.
    if (method === 'sendLivePhoto') throw new Absent('puregram uploads no live_photo')
    return telegram.api.call(
      method,
      withFiles(parameters, (path, filename) => MediaSource.path(path, { filename })),
    )
  },
  download: async (fileId) => {
    const { file_path } = await telegram.api.getFile({ file_id: fileId })
    return fetchBytes(`${address}/file/bot${key}/${file_path}`)
  },
  refusalOf: (error) =>
    typeof error.code === 'number' && {
      code: error.code,
      description: error.message,
      retry_after: error.parameters?.retry_after,
    },
})
