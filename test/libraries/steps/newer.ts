/** Steps: what the sandbox learns at present. A method that it still refuses counts as pending. */
import { expect } from '../includes.ts'
import type { Step } from './step.ts'

const price = [{ label: 'Tea', amount: 300 }]
const invoice = { title: 'Tea', description: 'A cup', payload: 'cup', currency: 'XTR' }

export const newerSteps: readonly Step[] = [
  [
    'inline query, answer, choice',
    async (stage) => {
      const { ada, me } = stage.account
      const asked = stage.asAda('POST', '/inline_queries', {
        bot: me.id,
        chat: me.id,
        query: 'tea',
      })
      // It is awaited below, unless the bot answers nothing.
      asked.catch(() => undefined)
      const wanted = { query: 'tea', from: { id: ada.id } }
      const { inline_query: query } = await stage.bot.hears({ inline_query: wanted })
      const input_message_content = { message_text: 'Green tea' }
      const results = [{ type: 'article', id: 'green', title: 'Green', input_message_content }]
      const answer = { inline_query_id: query.id, results, cache_time: 0 }
      expect(await stage.call('answerInlineQuery', answer), true)
      const { inline_query_id, results: offered } = await asked
      expect(offered, [{ id: 'green', type: 'article', title: 'Green' }])
      await stage.asAda('POST', '/inline_choices', { inline_query_id, result_id: 'green' })
      await stage.sees({ text: 'Green tea', from: { id: ada.id } })
    },
  ],
  [
    'web app button',
    async (stage) => {
      const button = { text: 'Open', web_app: { url: 'https://example.org/app' } }
      const reply_markup = { inline_keyboard: [[button]] }
      const sent = await stage.send('sendMessage', { text: 'An app', reply_markup })
      expect(sent.reply_markup.inline_keyboard, [[button]])
    },
  ],
  [
    'copy button',
    async (stage) => {
      const button = { text: 'Copy', copy_text: { text: 'copied' } }
      const reply_markup = { inline_keyboard: [[button]] }
      const sent = await stage.send('sendMessage', { text: 'To copy', reply_markup })
      expect(sent.reply_markup.inline_keyboard, [[button]])
    },
  ],
  [
    'invoice',
    async (stage) => {
      const sent = await stage.send('sendInvoice', {
        ...invoice,
        provider_token: '',
        prices: price,
      })
      expect(sent.invoice, { title: 'Tea', currency: 'XTR', total_amount: 300 })
    },
  ],
  [
    'invoice link',
    async (stage) => {
      const link = await stage.call('createInvoiceLink', {
        ...invoice,
        provider_token: '',
        prices: price,
      })
      expect(link, /^https?:/)
    },
  ],
  [
    'game',
    async (stage) => {
      const sent = await stage.send('sendGame', { game_short_name: 'chess' })
      expect(sent.game, { title: (title: unknown) => typeof title === 'string' })
    },
  ],
  [
    'sticker set',
    async (stage) => {
      const { client, files } = stage.account
      const { readFile } = await import('node:fs/promises')
      const data = (await readFile(files.sticker.upload)).toString('base64')
      const name = 'Teapots'
      const set = { name, title: 'Teapots', stickers: [{ emoji: '🫖', data }] }
      await client.result('POST', '/sandbox/sticker_sets', set)
      const wanted = { name, title: 'Teapots', stickers: [{ emoji: '🫖', type: 'regular' }] }
      expect(await stage.call('getStickerSet', { name }), wanted)
    },
  ],
]
