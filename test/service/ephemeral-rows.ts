/** What the methods about ephemeral messages are called with on the sandbox, and what they answer. */
import type { MethodRow } from './method-rows.ts'
import type { MethodStage } from './method-stage.ts'

export function ephemeralRows({
  ada,
  chat_id,
  done,
}: MethodStage): Readonly<Record<string, MethodRow>> {
  const place = { chat_id, receiver_user_id: ada.id }
  const sent = async (method: string, more: object) => {
    const { ephemeral_message_id } = await done(method, { ...place, ...more })
    return { ...place, ephemeral_message_id: ephemeral_message_id as number }
  }
  const text = () => sent('sendMessage', { text: 'psst' })
  const picture = () => sent('sendPhoto', { photo: 'attach://picture' })
  const media = { type: 'photo', media: 'attach://other' }
  const buttons = { inline_keyboard: [[{ text: 'Tea', callback_data: 'tea' }]] }
  return {
    editEphemeralMessageText: [true, async () => ({ ...(await text()), text: 'hush' })],
    editEphemeralMessageMedia: [true, async () => ({ ...(await picture()), media })],
    editEphemeralMessageCaption: [true, async () => ({ ...(await picture()), caption: 'hush' })],
    editEphemeralMessageReplyMarkup: [
      true,
      async () => ({ ...(await text()), reply_markup: buttons }),
    ],
    deleteEphemeralMessage: [true, text],
  }
}
