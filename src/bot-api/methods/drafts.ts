/** Methods that show a message while it is being written. */
import { failed } from '../../../machines/model/failure.ts'
import { type Method, result } from '../method.ts'
import { textOf } from '../text.ts'

const sendMessageDraft: Method = {
  name: 'sendMessageDraft',
  summary: 'Shows a text while it is being written; sendMessage then sends it',
  scope: 'bot:send',
  operation: 'draft',
  parameters: {
    chat_id: 'chat',
    message_thread_id: 'integer',
    draft_id: 'integer',
    text: 'string',
    parse_mode: 'string',
    entities: 'json',
  },
  required: ['chat_id', 'draft_id'],
  run: async ({ args, perform }) => {
    const chat = args.chat()
    const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number
    const draft = args.integer('draft_id', { min, max })
    if (draft === 0) throw failed('bad_request', 'draft_id must be non-zero')
    const text = args.has('text') ? textOf(args) : { text: '', entities: [] }
    return result(await perform({ kind: 'draft', chat, draft, text }))
  },
}

export const draftMethods = [sendMessageDraft]
