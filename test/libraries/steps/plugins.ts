/** Steps: the plugins of grammY, each by a command of the bot. */
import type { Step } from './step.ts'

export const pluginSteps: readonly Step[] = [
  [
    'conversations',
    async (stage) => {
      await stage.write('/greet')
      await stage.sees({ text: 'What is your name?' })
      await stage.write('Zoe')
      await stage.sees({ text: 'Hello Zoe' })
    },
  ],
  [
    'menu',
    async (stage) => {
      await stage.write('/tea')
      const { message_id, inline_keyboard } = await stage.sees({ text: 'Which tea?' })
      const { callback_data } = inline_keyboard[0][0]
      const press = { chat: stage.account.me.id, message_id, callback_data }
      await stage.asAda('POST', '/presses', press)
      await stage.sees({ message_id, text: 'Green it is' })
    },
  ],
  [
    'stream',
    async (stage) => {
      await stage.write('/tell')
      await stage.sees({ text: 'Once upon a time' })
    },
  ],
]
