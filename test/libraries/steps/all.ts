/** The script that every library goes through. */
import { chatSteps } from './chats.ts'
import { keyboardSteps } from './keyboards.ts'
import { mediaSteps } from './media.ts'
import { textSteps } from './messages.ts'
import { newerSteps } from './newer.ts'
import { newestSteps } from './newest.ts'
import { receivingSteps } from './receiving.ts'
import { restartSteps } from './restarts.ts'
import type { Step } from './step.ts'

/** The service is restarted halfway, and twice more at the end. */
export const allSteps: readonly Step[] = [
  ...textSteps,
  ...keyboardSteps,
  ...receivingSteps,
  ...mediaSteps,
  ...chatSteps,
  ...newerSteps,
  ...newestSteps,
  ...restartSteps,
]

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
  'pre_checkout_query',
]

/** Steps of the script by their names, for what does only some of them. */
export function commonSteps(...names: readonly string[]): readonly Step[] {
  return names.map((name) => {
    const step = allSteps.find(([its]) => its === name)
    if (!step) throw new Error(`no step is called ${name}`)
    return step
  })
}
