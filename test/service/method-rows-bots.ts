/** What the methods that only bots have are called with on the sandbox, and what they answer. */
import type { MethodRow } from './method-rows.ts'
import type { MethodStage } from './method-stage.ts'

export function botMethodRows({
  ada,
  asked,
  opened,
}: MethodStage): Readonly<Record<string, MethodRow>> {
  const result = {
    type: 'article',
    id: '1',
    title: 'Tea',
    input_message_content: { message_text: 'Tea' },
  }
  return {
    answerInlineQuery: [true, async () => ({ inline_query_id: await asked(), results: [result] })],
    answerWebAppQuery: [{}, async () => ({ web_app_query_id: await opened(), result })],
    savePreparedKeyboardButton: [
      { id: String },
      { user_id: ada.id, button: { text: 'x', request_users: { request_id: 1 } } },
    ],
    savePreparedInlineMessage: [
      { id: String, expiration_date: Number },
      { user_id: ada.id, result, allow_user_chats: true },
    ],
  }
}
