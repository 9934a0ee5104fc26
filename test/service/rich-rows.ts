/** What the methods about rich messages are called with on the sandbox, and what they answer. */
import type { MethodRow } from './method-rows.ts'
import { message } from './method-shapes.ts'
import type { MethodStage } from './method-stage.ts'

export function richRows({ ada, chat_id }: MethodStage): Readonly<Record<string, MethodRow>> {
  const rich_message = { markdown: '# Tea' }
  return {
    sendRichMessage: [
      { ...message, rich_message: { blocks: [{ type: 'heading', text: 'Tea', size: 1 }] } },
      { chat_id, rich_message },
    ],
    sendRichMessageDraft: [true, { chat_id: ada.id, draft_id: 7, rich_message }],
  }
}
