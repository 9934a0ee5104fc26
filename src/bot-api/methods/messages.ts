/** Methods that send text. */
import { type Method, result } from '../method.ts'
import { previewed, previewOf } from '../preview.ts'
import { send, sending } from '../sending.ts'
import { textOf } from '../text.ts'

const sendMessage: Method = {
  name: 'sendMessage',
  summary: 'Sends a text message',
  scope: 'bot:send',
  operation: 'send',
  sends: true,
  parameters: {
    ...sending,
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
