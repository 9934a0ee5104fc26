/** Methods about payments: invoices, answers to buyers, and the Telegram Stars of the account. */

import { badRequest } from '../../../machines/model/failure.ts'
import {
  type Invoice,
  type OrderPart,
  type Price,
  type ShippingOption,
  STARS,
} from '../../../machines/model/payment.ts'
import { Arguments, numberIn } from '../arguments.ts'
import { type Call, type Method, result } from '../method.ts'
import { send, sendParameters, suggestParameters } from '../sending.ts'

const MONTH_SECONDS = 2_592_000
const MOST_STARS = 10_000
const TIPS = 4
const LARGE = Number.MAX_SAFE_INTEGER

const priced = {
  title: 'string',
  description: 'string',
  payload: 'string',
  provider_token: 'string',
  currency: 'string',
  prices: 'json',
  max_tip_amount: 'integer',
  suggested_tip_amounts: 'json',
  provider_data: 'string',
  photo_url: 'string',
  photo_size: 'integer',
  photo_width: 'integer',
  photo_height: 'integer',
  need_name: 'boolean',
  need_phone_number: 'boolean',
  need_email: 'boolean',
  need_shipping_address: 'boolean',
  send_phone_number_to_provider: 'boolean',
  send_email_to_provider: 'boolean',
  is_flexible: 'boolean',
} as const

const PARTS: Readonly<Record<string, OrderPart>> = {
  need_name: 'name',
  need_phone_number: 'phone_number',
  need_email: 'email',
  need_shipping_address: 'shipping_address',
}

const described = ['title', 'description', 'payload', 'currency', 'prices']

/** The invoice of a call or an inline result. Any provider token will do: nothing is charged. */
export function invoiceOf(args: Arguments): Invoice {
  const needed = (name: string) => {
    const value = args.text(name)
    if (value === undefined) throw badRequest(`parameter "${name}" is required`)
    return value
  }
  const title = needed('title')
  const description = needed('description')
  const payload = needed('payload')
  if ([...title].length > 32) throw badRequest('TITLE_INVALID')
  if ([...description].length > 255) throw badRequest('DESCRIPTION_INVALID')
  if (Buffer.byteLength(payload) > 128) throw badRequest('INVOICE_PAYLOAD_INVALID')
  const currency = needed('currency').toUpperCase()
  if (!/^[A-Z]{3}$/.test(currency)) throw badRequest('CURRENCY_INVALID')
  const prices = pricesOf(args)
  const total = prices.reduce((sum, { amount }) => sum + amount, 0)
  if (total <= 0) throw badRequest('CURRENCY_TOTAL_AMOUNT_INVALID')
  const isStars = currency === STARS
  if (isStars && (prices.length !== 1 || total > MOST_STARS))
    throw badRequest('STARS_INVOICE_INVALID')
  if (!isStars && !args.has('provider_token')) throw badRequest('PAYMENT_PROVIDER_INVALID')
  const maxTip = isStars ? 0 : args.integer('max_tip_amount', { min: 0, max: LARGE })
  const photoUrl = args.text('photo_url')
  const start = args.text('start_parameter')
  const periodSeconds = periodOf(args, isStars)
  const asks = Object.entries(PARTS).flatMap(([name, part]) => (args.boolean(name) ? [part] : []))
  return {
    title,
    description,
    payload,
    currency,
    prices,
    total,
    asks: isStars ? [] : asks,
    isFlexible: !isStars && args.boolean('is_flexible'),
    maxTip,
    tips: tipsOf(args, maxTip),
    ...(photoUrl !== undefined && { photoUrl }),
    ...(start !== undefined && { start }),
    ...(periodSeconds !== undefined && { periodSeconds }),
  }
}

function periodOf(args: Arguments, isStars: boolean): number | undefined {
  const seconds = args.integer('subscription_period', { min: 0, max: LARGE })
  if (seconds === 0) return undefined
  if (seconds !== MONTH_SECONDS || !isStars) throw badRequest('SUBSCRIPTION_PERIOD_INVALID')
  return seconds
}

function pricesOf(args: Arguments): Price[] {
  const given = args.list('prices', 'prices', 'labeled prices')
  if (given.length === 0) throw badRequest('there must be at least one price')
  return given.map(priceOf)
}

function priceOf(value: unknown): Price {
  const wrong = (problem: string) => badRequest(`can't parse labeled price: ${problem}`)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong('LabeledPrice must be an Object')
  }
  const price = Arguments.from(value)
  const label = price.text('label')
  if (label === undefined) throw wrong('LabeledPrice label must be non-empty')
  if (!/^-?\d{1,15}$/.test(price.text('amount') ?? '')) throw wrong('Can\'t find field "amount"')
  return { label, amount: Number(price.text('amount')) }
}

function tipsOf(args: Arguments, maxTip: number): number[] {
  if (!args.has('suggested_tip_amounts')) return []
  const given = args.list('suggested_tip_amounts', 'suggested_tip_amounts', 'suggested tip amounts')
  const tips = given.map(numberIn)
  const isRising = tips.every((tip, place) => tip > (tips[place - 1] ?? 0) && tip <= maxTip)
  if (tips.length > TIPS || !isRising) throw badRequest('TIP_AMOUNTS_INVALID')
  return tips
}

const sendInvoice: Method = {
  name: 'sendInvoice',
  summary: 'Asks to be paid: people pay by a button below',
  scope: 'bot:send',
  operation: 'send',
  content: 'invoice',
  sends: true,
  parameters: { ...sendParameters, ...suggestParameters, ...priced, start_parameter: 'string' },
  required: ['chat_id', ...described],
  run: async (call) => result(await send(call, { kind: 'invoice', invoice: invoiceOf(call.args) })),
}

const createInvoiceLink: Method = {
  name: 'createInvoiceLink',
  summary: 'A link by which anybody can pay',
  scope: 'bot:send',
  operation: 'invoice_link',
  parameters: { ...priced, business_connection_id: 'string', subscription_period: 'integer' },
  required: described,
  once: true,
  run: async ({ args, perform }) =>
    result(await perform({ kind: 'invoice_link', invoice: invoiceOf(args) })),
}

/** The reason that the buyer is shown. */
function errorOf(args: Arguments): { readonly error?: string } {
  if (args.boolean('ok')) return {}
  const error = args.text('error_message')
  if (error === undefined) throw badRequest('parameter "error_message" is required')
  return { error }
}

const answerShippingQuery: Method = {
  name: 'answerShippingQuery',
  summary: 'Names the ways of shipping to the address of a buyer',
  scope: 'bot:send',
  operation: 'answer_shipping',
  parameters: {
    shipping_query_id: 'string',
    ok: 'boolean',
    shipping_options: 'json',
    error_message: 'string',
  },
  required: ['shipping_query_id', 'ok'],
  run: async ({ args, perform }) => {
    const query = args.text('shipping_query_id') ?? ''
    const answer = args.boolean('ok') ? { options: optionsOf(args) } : errorOf(args)
    return result(await perform({ kind: 'answer_shipping', query, ...answer }))
  },
}

function optionsOf(args: Arguments): ShippingOption[] {
  const given = args.list('shipping_options', 'shipping options', 'shipping options')
  if (given.length === 0) throw badRequest('there must be at least one shipping option')
  return given.map((value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw badRequest("can't parse shipping option: ShippingOption must be an Object")
    }
    const option = Arguments.from(value)
    const [id, title] = [option.text('id'), option.text('title')]
    if (id === undefined) throw badRequest('can\'t parse shipping option: Can\'t find field "id"')
    if (title === undefined)
      throw badRequest('can\'t parse shipping option: Can\'t find field "title"')
    return { id, title, prices: pricesOf(option) }
  })
}

const answerPreCheckoutQuery: Method = {
  name: 'answerPreCheckoutQuery',
  summary: 'Agrees to a payment, or says why not',
  scope: 'bot:send',
  operation: 'answer_checkout',
  parameters: { pre_checkout_query_id: 'string', ok: 'boolean', error_message: 'string' },
  required: ['pre_checkout_query_id', 'ok'],
  run: async ({ args, perform }) => {
    const query = args.text('pre_checkout_query_id') ?? ''
    return result(await perform({ kind: 'answer_checkout', query, ...errorOf(args) }))
  },
}

const getMyStarBalance: Method = {
  name: 'getMyStarBalance',
  summary: 'The Telegram Stars of the account',
  scope: undefined,
  operation: 'star_balance',
  parameters: {},
  required: [],
  run: async ({ perform }) => result(await perform({ kind: 'star_balance' })),
}

const getStarTransactions: Method = {
  name: 'getStarTransactions',
  summary: 'The Telegram Stars that came and went',
  scope: undefined,
  operation: 'star_transactions',
  parameters: { offset: 'integer', limit: 'integer' },
  required: [],
  run: async ({ args, perform }) => {
    const offset = args.integer('offset', { min: 0, max: 2 ** 31 - 1 })
    const limit = args.has('limit') ? args.integer('limit', { min: 1, max: 100 }) : 100
    return result(await perform({ kind: 'star_transactions', offset, limit }))
  },
}

const chargeOf = ({ args }: Call) => ({
  person: args.userId(),
  charge: args.text('telegram_payment_charge_id') ?? '',
})

const refundStarPayment: Method = {
  name: 'refundStarPayment',
  summary: 'Gives the Telegram Stars of a payment back',
  scope: 'bot:send',
  operation: 'refund_stars',
  parameters: { user_id: 'integer', telegram_payment_charge_id: 'string' },
  required: ['user_id', 'telegram_payment_charge_id'],
  once: true,
  run: async (call) => result(await call.perform({ kind: 'refund_stars', ...chargeOf(call) })),
}

const editUserStarSubscription: Method = {
  name: 'editUserStarSubscription',
  summary: 'Ends a subscription at the end of its time, or takes it up again',
  scope: 'bot:send',
  operation: 'change_subscription',
  parameters: {
    user_id: 'integer',
    telegram_payment_charge_id: 'string',
    is_canceled: 'boolean',
  },
  required: ['user_id', 'telegram_payment_charge_id', 'is_canceled'],
  run: async (call) => {
    const isCanceled = call.args.boolean('is_canceled')
    return result(
      await call.perform({ kind: 'change_subscription', ...chargeOf(call), isCanceled }),
    )
  },
}

export const paymentMethods = [
  sendInvoice,
  createInvoiceLink,
  answerShippingQuery,
  answerPreCheckoutQuery,
  getMyStarBalance,
  getStarTransactions,
  refundStarPayment,
  editUserStarSubscription,
]
