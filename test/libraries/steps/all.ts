/** The script that every library goes through. */

import { textSteps } from './messages.ts'
import type { Step } from './step.ts'

export const allSteps: readonly Step[] = [...textSteps]

export const updateKinds = [
  'message',
  'edited_message',
  'callback_query',
  'poll_answer',
  'message_reaction',
  'my_chat_member',
  'chat_member',
  'chat_join_request',
  'inline_query',
  'chosen_inline_result',
  'shipping_query',
  'pre_checkout_query',
]
