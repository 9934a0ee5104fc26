/** The Telegram adapter of the Chat SDK behind the protocol of test/libraries/bot-process.ts. */
import { readFileSync } from 'node:fs'
import { createMemoryState } from '@chat-adapter/state-memory'
import { createTelegramAdapter } from '@chat-adapter/telegram'
import { Actions, Button, Card, Chat } from 'chat'
import { Absent, listenFetch, say, serve, started, versionOf } from './wire.mjs'

const { address, key, webhook, allowed_updates } = await started()

// snippet
const telegram = createTelegramAdapter({
  apiUrl: address,
  botToken: key,
  mode: webhook ? 'webhook' : 'polling',
  secretToken: webhook?.secret,
  longPolling: { allowedUpdates: allowed_updates },
})
const bot = new Chat({
  userName: 'bot',
  adapters: { telegram },
  state: createMemoryState(),
  // Otherwise it drops a message that comes while another of its chat is handled.
  concurrency: 'concurrent',
})
bot.onSlashCommand('/echo', (event) => event.channel.post(`echo ${event.text}`))
// end

bot.onSlashCommand('/menu', (event) => event.channel.post({ markdown: '# Menu\n\n- tea\n- cake' }))
bot.onSlashCommand('/tea', (event) =>
  event.channel.post(
    Card({ title: 'Which tea?', children: [Actions([Button({ id: 'green', label: 'Green' })])] }),
  ),
)
bot.onAction('green', (event) => event.thread.post('Green it is'))
bot.onSlashCommand('/tell', (event) => event.channel.post(tale()))
async function* tale() {
  yield* ['Once ', 'upon ', 'a time']
}

const tell = (kind) => (event) => say({ update: { [kind]: event.raw } })
const tellMessage = (message) => tell(message.raw.edit_date ? 'edited_message' : 'message')(message)
bot.onDirectMessage((_thread, message) => tellMessage(message))
bot.onNewMessage(/^/, (_thread, message) => tellMessage(message))
bot.onReaction(tell('message_reaction'))
bot.onAction(tell('callback_query'))
await bot.initialize()
if (webhook) {
  await listenFetch(webhook.port, (request) => bot.webhooks.telegram(request))
  // Its users set the webhook by hand.
  const body = JSON.stringify({ url: webhook.url, secret_token: webhook.secret, allowed_updates })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${address}/bot${key}/setWebhook`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`setWebhook: ${await answer.text()}`)
}

const threadOf = ({ chat_id, message_thread_id }) =>
  telegram.encodeThreadId({ chatId: `${chat_id}`, messageThreadId: message_thread_id })
const read = ({ upload }) => readFileSync(upload)
const absent = (what) => {
  throw new Absent(`the Chat SDK has no ${what}`)
}

/** Parameters that its methods have no place for. */
function only(parameters, ...names) {
  for (const name of Object.keys(parameters)) {
    if (!['chat_id', 'message_thread_id', ...names].includes(name)) absent(name)
  }
}

async function post(parameters, message) {
  const answered = parameters.reply_parameters?.message_id
  const thread = threadOf(parameters)
  const posted = answered
    ? await telegram.reply(thread, `${parameters.chat_id}:${answered}`, message)
    : await telegram.postMessage(thread, message)
  return posted.raw
}

const attached = (type) => (parameters) => {
  only(parameters, type)
  const given = parameters[type]
  return post(parameters, { raw: '', attachments: [{ type, data: read(given), name: given.name }] })
}

const methods = {
  sendMessage: (parameters) => {
    only(parameters, 'text', 'reply_parameters')
    return post(parameters, parameters.text)
  },
  editMessageText: async (parameters) => {
    only(parameters, 'message_id', 'text')
    const { chat_id, message_id, text } = parameters
    const thread = threadOf(parameters)
    return (await telegram.editMessage(thread, `${chat_id}:${message_id}`, text)).raw
  },
  deleteMessage: async (parameters) => {
    const { chat_id, message_id } = parameters
    await telegram.deleteMessage(threadOf(parameters), `${chat_id}:${message_id}`)
    return true
  },
  setMessageReaction: async (parameters) => {
    const { chat_id, message_id, reaction } = parameters
    const [{ emoji }] = reaction
    await telegram.addReaction(threadOf(parameters), `${chat_id}:${message_id}`, emoji)
    return true
  },
  sendDocument: (parameters) => {
    only(parameters, 'document')
    const { name, ...file } = parameters.document
    return post(parameters, { raw: '', files: [{ data: read(file), filename: name }] })
  },
  sendAudio: attached('audio'),
  sendVideo: attached('video'),
}

await serve(versionOf('@chat-adapter/telegram'), {
  call: (method, parameters) => (methods[method] ?? absent)(methods[method] ? parameters : method),
  download: (fileId) =>
    telegram.rehydrateAttachment({ type: 'file', fetchMetadata: { fileId } }).fetchData(),
  refusalOf: (error) =>
    error?.name?.endsWith('Error') &&
    error.adapter === 'telegram' && { description: error.message, retry_after: error.retryAfter },
})
