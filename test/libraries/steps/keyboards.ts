/** Steps: keyboards of both kinds, polls, dice, reactions, and what is shown while a bot works. */
import { expect } from '../includes.ts'
import type { Step } from './step.ts'

export const keyboardSteps: readonly Step[] = [
  [
    'inline keyboard, callback, answer',
    async (stage) => {
      const { ada, me } = stage.account
      const inline_keyboard = [
        [
          { text: 'Yes', callback_data: 'yes' },
          { text: 'Site', url: 'https://example.org/' },
        ],
      ]
      const asked = { text: 'Well?', reply_markup: { inline_keyboard } }
      const sent = await stage.send('sendMessage', asked)
      expect(sent.reply_markup, { inline_keyboard })
      await stage.sees({ text: 'Well?', inline_keyboard: [[{ text: 'Yes' }, { text: 'Site' }]] })
      const press = { chat: me.id, message_id: sent.message_id, callback_data: 'yes' }
      const pressed = stage.asAda('POST', '/presses', press)
      const wanted = { data: 'yes', from: { id: ada.id }, message: { message_id: sent.message_id } }
      const { callback_query: query } = await stage.bot.hears({ callback_query: wanted })
      const answer = { callback_query_id: query.id, text: 'noted', show_alert: true }
      expect(await stage.call('answerCallbackQuery', answer), true)
      expect(await pressed, { answered: true, text: 'noted', show_alert: true })
    },
  ],
  [
    'change an inline keyboard',
    async (stage) => {
      const of = (text: string) => ({ inline_keyboard: [[{ text, callback_data: 'd' }]] })
      const asked = { text: 'Choose', reply_markup: of('One') }
      const { message_id } = await stage.send('sendMessage', asked)
      const change = { message_id, reply_markup: of('Two') }
      expect((await stage.send('editMessageReplyMarkup', change)).reply_markup, of('Two'))
      await stage.sees({ message_id, inline_keyboard: [[{ text: 'Two' }]] })
    },
  ],
  [
    'reply keyboard',
    async (stage) => {
      const keyboard = [[{ text: 'Tea' }, { text: 'My number', request_contact: true }]]
      const reply_markup = { keyboard, resize_keyboard: true, one_time_keyboard: true }
      await stage.send('sendMessage', { text: 'What?', reply_markup })
      expect((await stage.seen()).keyboards, [{ keyboard, resize_keyboard: true }])
      await stage.write('Tea')
      await stage.bot.hears({ message: { text: 'Tea' } })
      const gone = { text: 'Gone', reply_markup: { remove_keyboard: true } }
      await stage.send('sendMessage', gone)
      expect((await stage.seen()).keyboards.length, 0)
    },
  ],
  [
    'force reply',
    async (stage) => {
      const reply_markup = { force_reply: true, input_field_placeholder: 'A name' }
      await stage.send('sendMessage', { text: 'Who?', reply_markup })
      expect((await stage.seen()).keyboards, [{ force_reply: true }])
    },
  ],
  [
    'poll, vote, stop',
    async (stage) => {
      const { ada, me } = stage.account
      const options = [{ text: 'yes' }, { text: 'no' }]
      const asked = { question: 'Tea?', options, is_anonymous: false }
      const { message_id, poll } = await stage.send('sendPoll', asked)
      expect(poll, { question: 'Tea?', options, is_closed: false, total_voter_count: 0 })
      const place = `/chats/${me.id}/messages/${message_id}`
      await stage.asAda('PUT', `${place}/vote`, { option_ids: [1] })
      const answer = { poll_id: poll.id, option_ids: [1], user: { id: ada.id } }
      await stage.bot.hears({ poll_answer: answer })
      const stopped = { is_closed: true, options: [{ voter_count: 0 }, { voter_count: 1 }] }
      expect(await stage.send('stopPoll', { message_id }), stopped)
    },
  ],
  [
    'dice',
    async (stage) => {
      const isDie = (value: unknown) => Number(value) >= 1 && Number(value) <= 6
      const { dice } = await stage.send('sendDice', { emoji: '🎲' })
      expect(dice, { emoji: '🎲', value: isDie })
    },
  ],
  [
    'reactions',
    async (stage) => {
      const { me } = stage.account
      const reaction = [{ type: 'emoji', emoji: '👍' }]
      const { message_id } = await stage.write('react to me')
      expect(await stage.send('setMessageReaction', { message_id, reaction }), true)
      const { messages } = await stage.seen()
      const reacted = messages.find(
        (message: { message_id: number }) => message.message_id === message_id,
      )
      expect(reacted.reactions, [{ emoji: '👍', person: { id: me.id } }])
      const sent = await stage.send('sendMessage', { text: 'react to this' })
      const path = `/chats/${me.id}/messages/${sent.message_id}/reactions`
      await stage.asAda('PUT', path, { reactions: [{ emoji: '❤' }] })
      const wanted = { message_id: sent.message_id, new_reaction: [{ type: 'emoji', emoji: '❤' }] }
      await stage.bot.hears({ message_reaction: wanted })
    },
  ],
  [
    'chat action',
    async (stage) => {
      expect(await stage.send('sendChatAction', { action: 'upload_photo' }), true)
      expect((await stage.seen()).typing, [{ action: 'upload_photo' }])
    },
  ],
  [
    'draft',
    async (stage) => {
      expect(await stage.send('sendMessageDraft', { draft_id: 7, text: 'half a sen' }), true)
      expect((await stage.seen()).drafts, [{ draft_id: 7, text: 'half a sen' }])
      await stage.send('sendMessage', { text: 'half a sentence' })
    },
  ],
]
