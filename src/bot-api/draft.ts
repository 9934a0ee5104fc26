/** What the methods share that show a message while it is being written. */
import { failed } from '../../machines/model/failure.ts'
import type { Arguments } from './arguments.ts'

export const draftParameters = {
  chat_id: 'chat',
  message_thread_id: 'integer',
  draft_id: 'integer',
} as const

export function draftOf(args: Arguments) {
  const chat = args.chat()
  const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number
  const draft = args.integer('draft_id', { min, max })
  if (draft === 0) throw failed('bad_request', 'draft_id must be non-zero')
  return { chat, draft }
}
