/** Methods that send text: plain, formatted and rich messages, and drafts of them. */

import { failed } from '../../../machines/model/failure.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, result } from '../method.ts'
import { richContent, richMessageOf } from '../rich/content.ts'
import { renderRich } from '../rich/render.ts'
import { ephemeralParameters, send, sendParameters, suggestParameters } from '../sending.ts'
import { previewOf, previewParameters, textOf } from '../text.ts'

const draftParameters = {
  chat_id: 'chat',
  message_thread_id: 'integer',
  draft_id: 'integer',
  can_stop: 'boolean',
  keep_on_stop: 'boolean',
} as const

function draftOf(args: Arguments) {
  const chat = args.chat()
  const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number
  const draft = args.integer('draft_id', { min, max })
  if (draft === 0) throw failed('bad_request', 'RANDOM_ID_INVALID')
  const stop = args.boolean('can_stop') && { keeps: args.boolean('keep_on_stop') }
  return { chat, draft, ...(stop && { stop }) }
}

const sendMessage: Method = {
  name: 'sendMessage',
  summary: 'Sends a text message',
  scope: 'bot:send',
  operation: 'send',
  sends: true,
  parameters: {
    ...sendParameters,
    ...ephemeralParameters,
    ...suggestParameters,
    text: 'string',
    parse_mode: 'string',
    entities: 'json',
    ...previewParameters,
  },
  required: ['chat_id', 'text'],
  run: async (call) => {
    const { args } = call
    return result(await send(call, { kind: 'text', ...textOf(args), ...previewOf(args) }))
  },
}

const sendMessageDraft: Method = {
  name: 'sendMessageDraft',
  summary: 'Shows a text while it is being written; sendMessage then sends it',
  scope: 'bot:send',
  operation: 'draft',
  parameters: {
    ...draftParameters,
    text: 'string',
    parse_mode: 'string',
    entities: 'json',
  },
  required: ['chat_id', 'draft_id'],
  run: async ({ args, perform }) => {
    const draft = draftOf(args)
    const text = args.has('text') ? textOf(args) : { text: '', entities: [] }
    return result(await perform({ kind: 'draft', ...draft, text }))
  },
}

const sendRichMessage: Method = {
  name: 'sendRichMessage',
  summary: 'Sends a document of headings, lists, tables, files and buttons',
  scope: 'bot:send',
  operation: 'send',
  sends: true,
  parameters: {
    ...sendParameters,
    ...ephemeralParameters,
    ...suggestParameters,
    rich_message: 'json',
  },
  required: ['chat_id', 'rich_message'],
  run: async (call) => result(await send(call, () => richContent(call))),
}

const sendRichMessageDraft: Method = {
  name: 'sendRichMessageDraft',
  summary: 'Shows a rich message while it is being written; sendRichMessage then sends it',
  scope: 'bot:send',
  operation: 'draft',
  parameters: { ...draftParameters, rich_message: 'json' },
  required: ['chat_id', 'draft_id', 'rich_message'],
  run: async (call) => {
    const draft = draftOf(call.args)
    const { text, entities } = renderRich((await richMessageOf(call)).blocks)
    return result(await call.perform({ kind: 'draft', ...draft, text: { text, entities } }))
  },
}

export const messageMethods = [sendMessage, sendMessageDraft, sendRichMessage, sendRichMessageDraft]
