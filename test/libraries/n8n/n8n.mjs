/** The Telegram nodes of n8n behind the protocol of test/libraries/bot-process.ts, run by its engine's contexts. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Absent, fetchBytes, listen, say, serve, started, versionOf } from './wire.mjs'

const { address, key, webhook, allowed_updates } = await started()
const folder = mkdtempSync(join(tmpdir(), 'chapar-n8n-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
Object.assign(process.env, { N8N_USER_FOLDER: folder, N8N_ENCRYPTION_KEY: 'of the test' })
const require = createRequire(import.meta.url)
require('reflect-metadata')
const { ExecuteContext } = require('n8n-core')
const { Workflow } = require('n8n-workflow')
const nodes = 'n8n-nodes-base/dist/nodes/Telegram'
const { Telegram } = require(`${nodes}/Telegram.node.js`)
const { TelegramTrigger } = require(`${nodes}/TelegramTrigger.node.js`)

// snippet
// The credential "Telegram API": "Access Token" is the key, "Base URL" the address.
const credential = { accessToken: key, baseUrl: address }
// A node "Telegram" behind a node "Telegram Trigger".
const echo = {
  chatId: '={{ $json.message.chat.id }}',
  text: '=echo {{ $json.message.text.slice(6) }}',
  additionalFields: { appendAttribution: false },
}
// end

const kinds = { telegram: new Telegram(), telegramTrigger: new TelegramTrigger() }
const kindOf = (type) => kinds[type.split('.')[1]]
const nodeTypes = { getByName: kindOf, getByNameAndVersion: kindOf, getKnownTypes: () => ({}) }
const credentialsHelper = {
  getDecrypted: async () => credential,
  getParentTypes: () => [],
  isCredentialUsableByNode: async () => true,
}

/** What a node runs in: one workflow of this node alone, with one item. */
function contextOf(kind, parameters, json, binary) {
  const given = {
    id: '1',
    name: 'Node',
    type: `n8n-nodes-base.${kind}`,
    typeVersion: kinds[kind].description.version.at(-1),
    position: [0, 0],
    credentials: { telegramApi: { id: '1', name: 'Chapar' } },
    parameters,
  }
  const terms = { id: 'workflow', nodes: [given], connections: {}, active: false, nodeTypes }
  const workflow = new Workflow(terms)
  const node = workflow.getNode('Node')
  const items = [{ json, ...(binary && { binary }) }]
  const input = { main: [items] }
  const run = { resultData: { runData: {} }, executionData: {} }
  const additional = { credentialsHelper, executionId: '1' }
  const execution = { node, data: input, source: null }
  return new ExecuteContext(
    workflow,
    node,
    additional,
    'manual',
    run,
    0,
    items,
    input,
    execution,
    [],
  )
}

async function run(parameters, json = {}, binary = undefined) {
  const [[item]] = await kinds.telegram.execute.call(
    contextOf('telegram', parameters, json, binary),
  )
  return 'result' in item.json ? item.json.result : item.json
}

/** The trigger in what n8n gives to a node that has a webhook. */
const trigger = (more) => {
  const context = contextOf(
    'telegramTrigger',
    { updates: allowed_updates, additionalFields: {} },
    {},
  )
  return Object.assign(context, { getNodeWebhookUrl: () => webhook.url, ...more })
}

async function take(request, response) {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
  let status = 200
  const refuse = (code) => {
    status = code
    return { json: () => undefined }
  }
  const { workflowData } = await kinds.telegramTrigger.webhook.call(
    trigger({
      getBodyData: () => body,
      getHeaderData: () => request.headers,
      getResponseObject: () => ({ status: refuse }),
    }),
  )
  response.writeHead(status).end()
  for (const { json } of workflowData?.[0] ?? []) {
    say({ update: json })
    if (json.message?.text?.startsWith('/echo ')) await run(echo, json)
  }
}

await listen(webhook.port, (request, response) => {
  take(request, response).catch((error) => process.stderr.write(`${error.stack}\n`))
})
await kinds.telegramTrigger.webhookMethods.default.create.call(trigger())

/** The names of operations and of fields, by the methods of the bot API. */
const operations = {
  sendMessage: { text: 'text' },
  editMessageText: { message_id: 'messageId', text: 'text' },
  deleteMessage: { message_id: 'messageId' },
  pinChatMessage: { message_id: 'messageId' },
  unpinChatMessage: { message_id: 'messageId' },
  sendLocation: { latitude: 'latitude', longitude: 'longitude' },
  sendChatAction: { action: 'action' },
  sendPhoto: { photo: 'file' },
  sendDocument: { document: 'file' },
  sendAudio: { audio: 'file' },
  sendVideo: { video: 'file' },
  sendAnimation: { animation: 'file' },
  sendSticker: { sticker: 'file' },
}
const chats = { getChat: 'get', getChatAdministrators: 'administrators', getChatMember: 'member' }

function call(method, { chat_id, user_id, callback_query_id, ...given }) {
  const place = { chatId: chat_id === undefined ? '' : `${chat_id}` }
  if (method === 'answerCallbackQuery') {
    const query = { queryId: callback_query_id, additionalFields: given }
    return run({ resource: 'callback', operation: 'answerQuery', ...query })
  }
  if (chats[method]) {
    const userId = user_id === undefined ? '' : `${user_id}`
    return run({ resource: 'chat', operation: chats[method], ...place, userId })
  }
  const names = operations[method]
  if (!names) throw new Absent(`n8n has no ${method}`)
  const parameters = { resource: 'message', operation: method, ...place }
  let binary
  for (const [name, own] of Object.entries(names)) {
    const { [name]: value, ...rest } = given
    given = rest
    if (value?.upload) {
      const data = readFileSync(value.upload).toString('base64')
      binary = { data: { data, fileName: value.name, mimeType: 'application/octet-stream' } }
      Object.assign(parameters, { binaryData: true, binaryPropertyName: 'data' })
    } else parameters[own] = value
  }
  const { reply_markup, reply_parameters, ...fields } = given
  if (reply_parameters) fields.reply_to_message_id = reply_parameters.message_id
  if (fields.entities || reply_markup) throw new Absent('n8n writes these in a form of its own')
  if (method === 'sendMessage' || method === 'editMessageText') fields.appendAttribution = false
  return run({ ...parameters, additionalFields: fields }, {}, binary)
}

await serve(versionOf('n8n-nodes-base'), {
  call,
  download: async (fileId) => {
    const { file_path } = await run({ resource: 'file', operation: 'get', fileId, download: false })
    return fetchBytes(`${address}/file/bot${key}/${file_path}`)
  },
  refusalOf: (error) =>
    error?.httpCode && { code: Number(error.httpCode), description: `${error.description}` },
})
