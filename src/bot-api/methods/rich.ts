/** Methods that send rich messages: documents of headings, lists, tables, files and buttons. */
import { draftOf, draftParameters } from '../draft.ts'
import { type Method, result } from '../method.ts'
import { richContent, richMessageOf } from '../rich/content.ts'
import { renderRich } from '../rich/render.ts'
import { ephemeralParameters, send, sending } from '../sending.ts'

const sendRichMessage: Method = {
  name: 'sendRichMessage',
  summary: 'Sends a document of headings, lists, tables, files and buttons',
  scope: 'bot:send',
  operation: 'send',
  sends: true,
  parameters: { ...sending, ...ephemeralParameters, rich_message: 'json' },
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

export const richMethods = [sendRichMessage, sendRichMessageDraft]
