/** Shows others that the account is about to send something. */
import type { tl } from '@mtcute/node'
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { type Context, done, looking } from './context.ts'
import { topicId } from './send.ts'

const actions: Readonly<Record<string, tl.TypeSendMessageAction>> = {
  typing: { _: 'sendMessageTypingAction' },
  upload_photo: { _: 'sendMessageUploadPhotoAction', progress: 0 },
  record_video: { _: 'sendMessageRecordVideoAction' },
  upload_video: { _: 'sendMessageUploadVideoAction', progress: 0 },
  record_voice: { _: 'sendMessageRecordAudioAction' },
  upload_voice: { _: 'sendMessageUploadAudioAction', progress: 0 },
  upload_document: { _: 'sendMessageUploadDocumentAction', progress: 0 },
  choose_sticker: { _: 'sendMessageChooseStickerAction' },
  find_location: { _: 'sendMessageGeoLocationAction' },
  record_video_note: { _: 'sendMessageRecordRoundAction' },
  upload_video_note: { _: 'sendMessageUploadRoundAction', progress: 0 },
}

export async function act(
  context: Context,
  { chat, action, topic }: Extract<Operation, { kind: 'act' }>,
): Promise<OperationResult> {
  const shown = actions[action]
  if (!shown) throw failed('bad_request', 'wrong parameter action in request')
  const peer = await context.calls.peer(chat, context.signal)
  const request = { _: 'messages.setTyping', peer, action: shown } as const
  const place = topic !== undefined && { topMsgId: topicId(topic) }
  await context.calls.call({ ...request, ...place }, looking(context))
  return done
}
