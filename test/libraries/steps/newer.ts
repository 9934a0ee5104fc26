/** Steps: inline mode, web apps, payments, games, sticker sets, rich messages, checklists. */
import { expect } from '../includes.ts'
import type { Stage, Upload } from '../stage.ts'
import type { Step } from './step.ts'

const invoice = {
  title: 'Tea',
  description: 'A cup',
  payload: 'cup',
  currency: 'XTR',
  provider_token: '',
  prices: [{ label: 'Tea', amount: 300 }],
}
const checklist = {
  title: 'To buy',
  tasks: [
    { id: 1, text: 'tea' },
    { id: 2, text: 'cake' },
  ],
  others_can_mark_tasks_as_done: true,
}

/** The account acts for Ada's business from now on; resolves with the connection's id. */
async function business(stage: Stage): Promise<string> {
  const path = `/business/${stage.account.me.id}`
  return (await stage.asAda('PUT', path, { rights: ['reply'] })).business_connection_id
}

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
      const choice = { result_id: 'green', query: 'tea', from: { id: ada.id } }
      await stage.bot.hears({ chosen_inline_result: choice })
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
      const sent = await stage.send('sendInvoice', invoice)
      expect(sent.invoice, { title: 'Tea', currency: 'XTR', total_amount: 300 })
    },
  ],
  [
    'payment',
    async (stage) => {
      const { ada, me } = stage.account
      const { message_id } = await stage.send('sendInvoice', { ...invoice, payload: 'paid cup' })
      const paying = stage.asAda('POST', '/payments', { chat: me.id, message_id })
      // It is awaited below, unless the bot does not agree.
      paying.catch(() => undefined)
      const shown = { currency: 'XTR', total_amount: 300, invoice_payload: 'paid cup' }
      const asked = { pre_checkout_query: { ...shown, from: { id: ada.id } } }
      const { pre_checkout_query: query } = await stage.bot.hears(asked)
      const agreed = { pre_checkout_query_id: query.id, ok: true }
      expect(await stage.call('answerPreCheckoutQuery', agreed), true)
      const { state, charge_id } = await paying
      expect(state, 'paid')
      const successful_payment = { ...shown, telegram_payment_charge_id: charge_id }
      await stage.bot.hears({ message: { successful_payment } })
    },
  ],
  [
    'invoice link',
    async (stage) => {
      expect(await stage.call('createInvoiceLink', invoice), /^https?:/)
    },
  ],
  [
    'game',
    async (stage) => {
      const sent = await stage.send('sendGame', { game_short_name: 'chess' })
      expect(sent.game, { title: 'chess' })
      const { message_id } = await stage.sees({ game: { name: 'chess' } })
      expect(sent, { message_id })
    },
  ],
  [
    'game started',
    async (stage) => {
      const { ada, me } = stage.account
      const { message_id } = await stage.send('sendGame', { game_short_name: 'draughts' })
      const press = { chat: me.id, message_id, game: true, wait_seconds: 15 }
      const starting = stage.asAda('POST', '/presses', press)
      // It is awaited below, unless the bot answers nothing.
      starting.catch(() => undefined)
      const wanted = { game_short_name: 'draughts', from: { id: ada.id } }
      const { callback_query: query } = await stage.bot.hears({ callback_query: wanted })
      const url = 'https://games.example/draughts'
      const answer = { callback_query_id: query.id, url }
      expect(await stage.call('answerCallbackQuery', answer), true)
      expect(await starting, { answered: true, url })
    },
  ],
  [
    'game scores',
    async (stage) => {
      const { ada } = stage.account
      const { message_id } = await stage.send('sendGame', { game_short_name: 'go' })
      const player = { chat_id: ada.id, message_id, user_id: ada.id }
      const scored = await stage.call('setGameScore', { ...player, score: 5 })
      expect(scored, { message_id, game: { title: 'go' } })
      const best = [{ position: 1, score: 5, user: { id: ada.id } }]
      expect(await stage.call('getGameHighScores', player), best)
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
  [
    'sticker set of the bot',
    async (stage) => {
      const { ada, me, files } = stage.account
      const of = { user_id: ada.id, name: `cups_by_${me.username}` }
      const uploaded = async (sticker: Upload, emoji: string) => {
        const given = { user_id: ada.id, sticker, sticker_format: 'static' }
        const { file_id } = await stage.call('uploadStickerFile', given)
        return { sticker: file_id, format: 'static', emoji_list: [emoji] }
      }
      const stickers = [await uploaded(files.sticker, '🍵')]
      expect(await stage.call('createNewStickerSet', { ...of, title: 'Cups', stickers }), true)
      const sticker = await uploaded(files.cup, '☕')
      expect(await stage.call('addStickerToSet', { ...of, sticker }), true)
      const { name } = of
      const wanted = { name, title: 'Cups', stickers: [{ emoji: '🍵' }, { emoji: '☕' }] }
      expect(await stage.call('getStickerSet', { name }), wanted)
      expect(await stage.call('deleteStickerSet', { name }), true)
    },
  ],
  [
    'rich message',
    async (stage) => {
      const rich_message = { html: '<h1>Menu</h1><p>Tea and <b>cake</b></p>' }
      const sent = await stage.send('sendRichMessage', { rich_message })
      expect(sent.rich_message.blocks, [{ type: 'heading', text: 'Menu' }, { type: 'paragraph' }])
      await stage.sees({ message_id: sent.message_id, text: 'Menu\n\nTea and cake' })
    },
  ],
  [
    'checklist',
    async (stage) => {
      const { kim, client } = stage.account
      const business_connection_id = await business(stage)
      const place = { business_connection_id, chat_id: kim.id }
      const sent = await stage.call('sendChecklist', { ...place, checklist })
      expect(sent, { business_connection_id, checklist })
      const { messages } = await client.result('GET', `/sandbox/people/${kim.id}/inbox`)
      const { tasks } = messages[0].checklist
      expect(tasks, checklist.tasks)
    },
  ],
]
