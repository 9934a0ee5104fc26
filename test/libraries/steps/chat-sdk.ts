/** Steps: what the Chat SDK does in its own words: Markdown, cards with buttons, texts that are streamed. */
import { commonSteps } from './all.ts'
import { restartSteps } from './restarts.ts'
import type { Step } from './step.ts'

export const chatSdkSteps: readonly Step[] = [
  ...commonSteps(
    'own handler',
    'text heard',
    'reply',
    'edit',
    'delete',
    'reactions',
    'restart of the service',
    'document up and down',
    'audio up and down',
    'video up and down',
    'file heard and downloaded',
    'group text heard and answered',
  ),
  [
    'Markdown',
    async (stage) => {
      await stage.write('/menu')
      await stage.sees({ text: /^Menu\n\n• tea\n• cake$/ })
    },
  ],
  [
    'card with buttons',
    async (stage) => {
      await stage.write('/tea')
      const { message_id, inline_keyboard } = await stage.sees({ text: /Which tea\?/ })
      const { callback_data } = inline_keyboard[0][0]
      const press = { chat: stage.account.me.id, message_id, callback_data }
      await stage.asAda('POST', '/presses', press)
      await stage.sees({ text: 'Green it is' })
    },
  ],
  [
    'streamed text',
    async (stage) => {
      await stage.write('/tell')
      await stage.sees({ text: 'Once upon a time' })
    },
  ],
  ...restartSteps,
]
