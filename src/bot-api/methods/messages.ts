/** Methods that send text. */
import { draftOf, draftParameters } from '../draft.ts'
import { type Method, result } from '../method.ts'
import { ephemeralParameters, send, sending } from '../sending.ts'
import { previewed, previewOf, textOf } from '../text.ts'

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

/** Methods that show a message while it is being written. */
export const draftMethods = [sendMessageDraft]

const sendMessage: Method = {
  name: 'sendMessage',
  summary: 'Sends a text message',
  scope: 'bot:send',
  operation: 'send',
  sends: true,
  parameters: {
    ...sending,
    ...ephemeralParameters,
    text: 'string',
    parse_mode: 'string',
    entities: 'json',
    ...previewed,
  },
  required: ['chat_id', 'text'],
  run: async (call) => {
    const { args } = call
    return result(await send(call, { kind: 'text', ...textOf(args), ...previewOf(args) }))
  },
}

export const messageMethods = [sendMessage]
