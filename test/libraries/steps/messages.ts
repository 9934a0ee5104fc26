/** Steps: texts with everything that belongs to them, keyboards, places, polls, reactions. */
import { expect } from '../includes.ts'
import type { Stage } from '../stage.ts'
import type { Step } from './step.ts'

const bold = { type: 'bold', offset: 0, length: 5 }

async function text(stage: Stage, said: string, more: object = {}): Promise<number> {
  return (await stage.send('sendMessage', { text: said, ...more })).message_id
}

export const textSteps: readonly Step[] = [
  [
    'getMe',
    async ({ account: { me }, bot }) => {
      expect(await bot.call('getMe'), { id: me.id, is_bot: true, username: me.username })
    },
  ],
  [
    'own handler',
    async (stage) => {
      await stage.write('/echo one')
      await stage.sees({ text: 'echo one' })
    },
  ],
  [
    'text heard',
    async (stage) => {
      const { ada } = stage.account
      await stage.write({ text: 'hello there', entities: [bold] })
      const from = { id: ada.id, first_name: 'Ada' }
      const chat = { id: ada.id, type: 'private' }
      await stage.bot.hears({ message: { text: 'hello there', from, chat, entities: [bold] } })
    },
  ],
  [
    'parse modes',
    async (stage) => {
      const html = { text: '<b>bolds</b> html', parse_mode: 'HTML' }
      expect(await stage.send('sendMessage', html), { text: 'bolds html', entities: [bold] })
      await stage.sees({ text: 'bolds html', entities: [bold] })
      const markdown = { text: '*bolds* down', parse_mode: 'MarkdownV2' }
      expect(await stage.send('sendMessage', markdown), { entities: [bold] })
    },
  ],
  [
    'entities',
    async (stage) => {
      const link = { type: 'text_link', offset: 6, length: 4, url: 'https://example.org/' }
      const sent = { text: 'bolds link', entities: [bold, link] }
      expect(await stage.send('sendMessage', sent), sent)
      await stage.sees(sent)
    },
  ],
  [
    'reply',
    async (stage) => {
      const { message_id } = await stage.write('answer me')
      const reply = { text: 'answered', reply_parameters: { message_id } }
      expect(await stage.send('sendMessage', reply), { reply_to_message: { message_id } })
      await stage.sees({ text: 'answered', reply_to_message_id: message_id })
    },
  ],
  [
    'edit',
    async (stage) => {
      const message_id = await text(stage, 'befroe')
      const change = { message_id, text: 'before' }
      expect(await stage.send('editMessageText', change), { message_id, text: 'before' })
      await stage.sees({ message_id, text: 'before' })
    },
  ],
  [
    'edit heard',
    async (stage) => {
      const { message_id } = await stage.write('frist')
      const path = `/chats/${stage.account.me.id}/messages/${message_id}`
      await stage.asAda('PATCH', path, { text: 'first' })
      await stage.bot.hears({ edited_message: { message_id, text: 'first' } })
    },
  ],
  [
    'delete',
    async (stage) => {
      const message_id = await text(stage, 'to be deleted')
      expect(await stage.send('deleteMessage', { message_id }), true)
      const { messages } = await stage.seen()
      expect(JSON.stringify(messages).includes('to be deleted'), false)
    },
  ],
  [
    'refusal',
    async (stage) => {
      const refused = await stage.send('sendMessage', { text: '<b>x', parse_mode: 'HTML' }).then(
        () => 'accepted',
        ({ message }: Error) => message,
      )
      expect(refused, /can't parse entities/i)
    },
  ],
]
