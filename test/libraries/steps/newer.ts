/** Steps: what the sandbox learns at present. A method that it still refuses counts as pending. */
import { expect } from '../includes.ts'
import type { Step } from './step.ts'

const price = [{ label: 'Tea', amount: 300 }]
const invoice = { title: 'Tea', description: 'A cup', payload: 'cup', currency: 'XTR' }

export const newerSteps: readonly Step[] = [
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
