/** What the methods that only bots have are called with on the sandbox, and what they answer. */

import type { MethodRow } from './method-rows.ts'
import { sized } from './method-shapes.ts'
import type { MethodStage } from './method-stage.ts'

export function botMethodRows({
  ada,
  asked,
  called,
  bot,
  client,
  done,
  next,
  opened,
}: MethodStage): Readonly<Record<string, MethodRow>> {
  const result = {
    type: 'article',
    id: '1',
    title: 'Tea',
    input_message_content: { message_text: 'Tea' },
  }
  const stars = {
    title: 'Tea',
    description: 'Tea',
    payload: 'tea',
    currency: 'XTR',
    prices: [{ label: 'Tea', amount: 1 }],
    provider_token: '',
  }
  const euros = { ...stars, currency: 'EUR', provider_token: 'x' }
  const shipping_address = {
    country_code: 'IR',
    city: 'Tehran',
    street_line1: 'Street',
    post_code: '1',
  }
  const order_info = { shipping_address }
  const paying = async (invoice: object, more: object = {}) => {
    const invoice_link = await done('createInvoiceLink', { ...invoice })
    const body = { invoice_link, wait_seconds: 0, ...more }
    return client.result('POST', `/sandbox/people/${ada.id}/payments`, body)
  }
  const checkout = async () => {
    await paying(stars)
    return { pre_checkout_query_id: (await next('pre_checkout_query')).id, ok: true }
  }
  /** A payment that was made. */
  const charge = async (more: object = {}) => {
    const waiting = paying({ ...stars, ...more }, { wait_seconds: 8 })
    const { id } = await next('pre_checkout_query')
    await done('answerPreCheckoutQuery', { pre_checkout_query_id: id, ok: true })
    return { user_id: ada.id, telegram_payment_charge_id: (await waiting).charge_id }
  }
  const invoice = { title: 'Tea', start_parameter: String, currency: 'XTR', total_amount: 1 }
  const shipping = async () => {
    await paying({ ...euros, need_shipping_address: true, is_flexible: true }, { order_info })
    const option = { id: 'post', title: 'Post', prices: euros.prices }
    const { id } = await next('shipping_query')
    return { shipping_query_id: id, ok: true, shipping_options: [option] }
  }
  const game = { game: { title: 'chess', photo: [] }, chat: { id: ada.id } }
  const played = async () => {
    const { message_id } = await done('sendGame', { chat_id: ada.id, game_short_name: 'chess' })
    return { chat_id: ada.id, message_id, user_id: ada.id }
  }
  let score = 0
  return {
    sendGame: [game, { chat_id: ada.id, game_short_name: 'chess' }],
    setGameScore: [game, async () => ({ ...(await played()), score: ++score })],
    getGameHighScores: [
      [{ position: 1, user: { id: ada.id }, score: Number }],
      async () => {
        const place = await played()
        await done('setGameScore', { ...place, score: ++score })
        return place
      },
    ],
    sendPaidMedia: [
      {
        chat: { id: ada.id },
        paid_media: { star_count: 3, paid_media: [{ type: 'photo', photo: [sized] }] },
      },
      {
        chat_id: ada.id,
        star_count: 3,
        media: [{ type: 'photo', media: 'attach://picture' }],
      },
    ],
    sendLivePhoto: [
      { chat: { id: ada.id }, photo: [sized], live_photo: { ...sized, duration: Number } },
      { chat_id: ada.id, photo: 'attach://picture', live_photo: 'attach://film' },
    ],
    sendInvoice: [
      { invoice, chat: { id: ada.id }, from: { id: bot.id } },
      { chat_id: ada.id, ...stars },
    ],
    createInvoiceLink: [/^https:/, stars],
    answerShippingQuery: [true, shipping],
    answerPreCheckoutQuery: [true, checkout],
    getMyStarBalance: [{ amount: Number }],
    refundStarPayment: [true, charge],
    editUserStarSubscription: [
      true,
      async () => ({ ...(await charge({ subscription_period: 2_592_000 })), is_canceled: true }),
    ],
    getStarTransactions: [{ transactions: [{ id: String, amount: 1, date: Number }] }],
    answerInlineQuery: [true, async () => ({ inline_query_id: await asked(), results: [result] })],
    answerGuestQuery: [
      { inline_message_id: String },
      async () => ({ guest_query_id: await called(), result }),
    ],
    answerWebAppQuery: [{}, async () => ({ web_app_query_id: await opened(), result })],
    savePreparedKeyboardButton: [
      { id: String },
      { user_id: ada.id, button: { text: 'x', request_users: { request_id: 1 } } },
    ],
    savePreparedInlineMessage: [
      { id: String, expiration_date: Number },
      { user_id: ada.id, result, allow_user_chats: true },
    ],
  }
}
