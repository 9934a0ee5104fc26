/** Node-RED with its Telegram nodes behind the protocol of test/libraries/bot-process.ts: a flow that runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { findPackageJSON } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import RED from 'node-red'
import { Absent, fetchBytes, say, serve, started, versionOf } from './wire.mjs'

const { address, key } = await started()
const folder = mkdtempSync(join(tmpdir(), 'chapar-node-red-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

// snippet
// The node "telegram bot": its token is the key, "Server URL" is the address.
const bot = {
  id: 'telegram',
  type: 'telegram bot',
  botname: 'bot',
  updatemode: 'polling',
  baseapiurl: address,
}
const credentials = { telegram: { token: key } }
const flow = [
  {
    id: 'echo',
    type: 'telegram command',
    bot: 'telegram',
    command: '/echo',
    wires: [['words'], []],
  },
  {
    id: 'words',
    type: 'function',
    func: 'msg.payload.content = "echo" + msg.payload.content; return msg',
    wires: [['send']],
  },
  { id: 'send', type: 'telegram sender', bot: 'telegram', wires: [[]] },
]
// end

const place = { z: 'tab', x: 0, y: 0 }
const own = [
  {
    id: 'in',
    type: 'telegram receiver',
    bot: 'telegram',
    handleallupdates: true,
    wires: [['tell'], []],
  },
  { id: 'tell', type: 'function', func: 'global.get("tell")(msg)', wires: [] },
  {
    id: 'out',
    type: 'telegram sender',
    bot: 'telegram',
    haserroroutput: true,
    wires: [['did'], ['no']],
  },
  { id: 'did', type: 'function', func: 'global.get("did")(msg)', wires: [] },
  { id: 'no', type: 'function', func: 'global.get("refused")(msg)', wires: [] },
]
const bots = { usernames: '', chatids: '', pollinterval: 100, usesocks: false }
const nodes = [...flow, ...own].map((node) => ({ ...place, ...node }))
writeFileSync(
  join(folder, 'flows.json'),
  JSON.stringify([{ id: 'tab', type: 'tab', label: 'Bot' }, { ...bots, ...bot }, ...nodes]),
)
writeFileSync(join(folder, 'flows_cred.json'), JSON.stringify(credentials))

const open = new Map()
let asked = 0
const settle = (name, outcomeOf) => (msg) => {
  open.get(msg.asked)?.[name](outcomeOf(msg))
  open.delete(msg.asked)
}
RED.init(createServer(), {
  userDir: folder,
  flowFile: 'flows.json',
  credentialSecret: false,
  httpAdminRoot: false,
  httpNodeRoot: false,
  nodesDir: join(dirname(findPackageJSON('node-red-contrib-telegrambot', import.meta.url)), '..'),
  logging: { console: { level: 'error' } },
  functionGlobalContext: {
    tell: ({ originalMessage: told, payload }) => {
      const text = told.edit_date ? 'edited_message' : 'message'
      const kind = payload.type === 'callback_query' ? payload.type : text
      say({ update: { [kind]: told } })
    },
    did: settle('resolve', ({ payload }) => payload.content),
    refused: settle('reject', ({ error }) => new Error(error)),
  },
})
await RED.start()
await new Promise((resolve) => RED.events.once('flows:started', resolve))

/** What the sender takes as content, by its type; the rest are options. */
const contents = {
  sendMessage: ['message', 'text'],
  sendPhoto: ['photo', 'photo'],
  sendDocument: ['document', 'document'],
  sendAudio: ['audio', 'audio'],
  sendVoice: ['voice', 'voice'],
  sendVideo: ['video', 'video'],
  sendAnimation: ['animation', 'animation'],
  sendSticker: ['sticker', 'sticker'],
  sendChatAction: ['action', 'action'],
  editMessageText: ['editMessageText', 'text'],
  editMessageCaption: ['editMessageCaption', 'caption'],
  editMessageReplyMarkup: ['editMessageReplyMarkup', 'reply_markup'],
  deleteMessage: ['deleteMessage', 'message_id'],
  pinChatMessage: ['pinChatMessage', 'message_id'],
  unpinChatMessage: ['unpinChatMessage', 'message_id'],
  getChat: ['getChat'],
  getChatMemberCount: ['getChatMemberCount'],
  getChatAdministrators: ['getChatAdministrators'],
  getChatMember: ['getChatMember', 'user_id'],
}

function payloadOf(method, { chat_id, ...parameters }) {
  if (method === 'answerCallbackQuery') {
    const { callback_query_id, ...options } = parameters
    return { type: 'answerCallbackQuery', callbackQueryId: callback_query_id, options }
  }
  if (method === 'sendLocation') {
    const { latitude, longitude, ...options } = parameters
    return { chatId: chat_id, type: 'location', content: { latitude, longitude }, options }
  }
  if (method === 'forwardMessage' || method === 'copyMessage') {
    const way = method === 'forwardMessage' ? 'forward' : 'copy'
    const { from_chat_id, message_id } = parameters
    return { chatId: from_chat_id, messageId: message_id, [way]: { chatId: chat_id } }
  }
  const [type, name] = contents[method] ?? []
  if (!type) throw new Absent(`the sender of Node-RED has no ${method}`)
  const { [name]: content, ...options } = parameters
  const fileOptions = content?.name && { filename: content.name }
  return { chatId: chat_id, type, content: content?.upload ?? content, options, fileOptions }
}

function send(payload) {
  const id = ++asked
  const answer = Promise.withResolvers()
  open.set(id, answer)
  RED.nodes.getNode('out').receive({ asked: id, payload })
  return answer.promise
}

await serve(versionOf('node-red-contrib-telegrambot'), {
  call: (method, parameters) => send(payloadOf(method, parameters)),
  download: async (fileId) => {
    const { file_path } = await send({ chatId: 0, getfile: { fileId } })
    return fetchBytes(`${address}/file/bot${key}/${file_path}`)
  },
  refusalOf: (error) => {
    const [, code, description] = /ETELEGRAM: (\d+) (.*)/.exec(error?.message) ?? []
    return code && { code: Number(code), description }
  },
})
