/** What the methods about rich messages and checklists are called with on the sandbox, and what they answer. */
import type { MethodRow } from './method-rows.ts'
import { message } from './method-shapes.ts'
import type { MethodStage } from './method-stage.ts'

export function richRows({ ada, chat_id, done }: MethodStage): Readonly<Record<string, MethodRow>> {
  const rich_message = { markdown: '# Tea' }
  const checklist = { title: 'Tea', tasks: [{ id: 1, text: 'milk' }] }
  const aChecklist = { ...message, checklist: { title: String, tasks: [{ id: 1, text: 'milk' }] } }
  return {
    sendRichMessage: [
      { ...message, rich_message: { blocks: [{ type: 'heading', text: 'Tea', size: 1 }] } },
      { chat_id, rich_message },
    ],
    sendRichMessageDraft: [true, { chat_id: ada.id, draft_id: 7, rich_message }],
    sendChecklist: [aChecklist, { chat_id, checklist }],
    editMessageChecklist: [
      aChecklist,
      async () => {
        const { message_id } = await done('sendChecklist', { chat_id, checklist })
        return { chat_id, message_id, checklist: { ...checklist, title: 'Shop' } }
      },
    ],
  }
}
