/** Payments with a provider that charges nothing, and with Telegram Stars: invoices, shipping, checkout, refunds. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object = {}) => client.bot(key, method, parameters)
const hand = `/sandbox/people/${ada.id}`

async function done(method: string, parameters: object = {}) {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}

let offset = 0
/** The next update that has this kind, or whose message has it. */
async function next(kind: string) {
  for (;;) {
    const updates = await done('getUpdates', { offset, timeout: 20 })
    if (updates.length === 0) throw new Error(`no ${kind} came`)
    offset = updates[0].update_id + 1
    const found = updates[0][kind] ?? updates[0].message?.[kind]
    if (found) return found
  }
}

const tea = { title: 'Tea', description: 'A pot of tea', payload: 'tea-1' }
const euros = {
  ...tea,
  currency: 'EUR',
  provider_token: 'any',
  prices: [
    { label: 'Tea', amount: 300 },
    { label: 'Sugar', amount: 50 },
  ],
}
const stars = { ...tea, currency: 'XTR', prices: [{ label: 'Tea', amount: 25 }] }
const pay = (body: object) => client.ask('POST', `${hand}/payments`, { wait_seconds: 8, ...body })
const agree = async () => {
  const query = await next('pre_checkout_query')
  t.equal(await done('answerPreCheckoutQuery', { pre_checkout_query_id: query.id, ok: true }), true)
  return query
}
const sendInvoice = async (invoice: object) => {
  const sent = await done('sendInvoice', { chat_id: ada.id, ...invoice })
  return { sent, at: { chat: bot.id, message_id: sent.message_id } }
}

t.test('an invoice is shipped, agreed to and paid', async (t) => {
  const asking = { need_name: true, need_shipping_address: true, is_flexible: true }
  const { sent, at } = await sendInvoice({ ...euros, ...asking, max_tip_amount: 100 })
  t.match(sent, {
    invoice: { title: 'Tea', description: 'A pot of tea', currency: 'EUR', total_amount: 350 },
    reply_markup: { inline_keyboard: [[{ text: 'Pay 350 EUR', pay: true }]] },
  })
  t.match(await pay({ ...at, wait_seconds: 0 }), bad('ORDER_INFO_INVALID'))
  const shipping_address = {
    country_code: 'IR',
    state: '',
    city: 'Tehran',
    street_line1: 'Street 1',
    street_line2: '',
    post_code: '1',
  }
  const order_info = { name: 'Ada', shipping_address }
  const paying = pay({ ...at, order_info, tip_amount: 10 })
  const shipping = await next('shipping_query')
  t.match(shipping, { from: { id: ada.id }, invoice_payload: 'tea-1', shipping_address })
  const shipping_options = [
    { id: 'post', title: 'By post', prices: [{ label: 'Post', amount: 40 }] },
    { id: 'foot', title: 'On foot', prices: [{ label: 'Foot', amount: 5 }] },
  ]
  const answer = { shipping_query_id: shipping.id, ok: true, shipping_options }
  await done('answerShippingQuery', answer)
  const { result: offered } = (await paying).body
  t.match(offered, { state: 'shipping', shipping_options })
  const { payment_id } = offered
  t.match(await pay({ payment_id, shipping_option_id: 'x' }), bad('SHIPPING_OPTION_INVALID'))

  const going = pay({ payment_id, shipping_option_id: 'post' })
  const query = await agree()
  const shown = { currency: 'EUR', total_amount: 400, invoice_payload: 'tea-1' }
  t.match(query, { ...shown, from: { id: ada.id }, shipping_option_id: 'post', order_info })
  const { result: paid } = (await going).body
  t.match(paid, { state: 'paid', total_amount: 400, charge_id: String })
  const payment = await next('successful_payment')
  t.match(payment, { ...shown, shipping_option_id: 'post', order_info })
  t.equal(payment.telegram_payment_charge_id, paid.charge_id)
  t.ok(payment.provider_payment_charge_id)
})

t.test('a way of shipping that is chosen twice at once is paid once', async (t) => {
  const asking = { need_shipping_address: true, is_flexible: true }
  const { at } = await sendInvoice({ ...euros, ...asking })
  const shipping_address = {
    ...{ country_code: 'IR', state: '', city: 'Tehran' },
    ...{ street_line1: 'Street 1', street_line2: '', post_code: '1' },
  }
  const paying = pay({ ...at, order_info: { shipping_address } })
  const { id: shipping_query_id } = await next('shipping_query')
  const shipping_options = [
    { id: 'post', title: 'By post', prices: [{ label: 'Post', amount: 40 }] },
  ]
  await done('answerShippingQuery', { shipping_query_id, ok: true, shipping_options })
  const { payment_id } = (await paying).body.result
  const chosen = { payment_id, shipping_option_id: 'post' }
  const both = [1, 2, 3, 4].map(() => pay(chosen))
  await agree()
  const told = await Promise.all(both)
  t.equal(told.filter(({ body }) => body.result?.state === 'paid').length, 1)
  t.match(
    told.filter(({ body }) => !body.ok),
    [1, 2, 3].map(() => bad('SHIPPING_OPTION_INVALID')),
  )
  await next('successful_payment')
})

t.test('the bot may refuse, and has to answer in time and once', async (t) => {
  const { at } = await sendInvoice(euros)
  const refusing = pay(at)
  const { id: pre_checkout_query_id } = await next('pre_checkout_query')
  const why = { pre_checkout_query_id, ok: false, error_message: 'Sold out' }
  await done('answerPreCheckoutQuery', why)
  t.match((await refusing).body.result, { state: 'refused', error_message: 'Sold out' })
  const old = 'query is too old and response timeout expired or query ID is invalid'
  t.match(await call('answerPreCheckoutQuery', why), bad(old))
  t.match(await call('answerPreCheckoutQuery', { ...why, error_message: '' }), { status: 400 })
  t.match((await pay({ ...at, wait_seconds: 0 })).body.result, { state: 'unanswered' })
  await next('pre_checkout_query')
})

t.test('stars come from the buyer, and go back with a refund', async (t) => {
  const before = (await done('getMyStarBalance')).amount
  const link = await done('createInvoiceLink', stars)
  t.match(link, /^https:/)
  const paying = pay({ invoice_link: link })
  await agree()
  const { charge_id } = (await paying).body.result
  t.match(await next('successful_payment'), { currency: 'XTR', total_amount: 25 })
  t.equal((await done('getMyStarBalance')).amount, before + 25)
  const refund = { user_id: ada.id, telegram_payment_charge_id: charge_id }
  t.match(await call('refundStarPayment', { ...refund, user_id: bot.id }), bad('CHARGE_ID_EMPTY'))
  t.equal(await done('refundStarPayment', refund), true)
  t.match(await call('refundStarPayment', refund), bad('CHARGE_ALREADY_REFUNDED'))
  t.equal((await done('getMyStarBalance')).amount, before)
  const [shown] = (await client.result('GET', `${hand}/inbox?chat=${bot.id}`)).messages
  t.match(shown, { service: 'refunded', payment: { total_amount: 25, charge_id } })
  const partner = { type: 'user', user: { id: ada.id }, invoice_payload: 'tea-1' }
  t.match((await done('getStarTransactions')).transactions, [
    { id: charge_id, amount: 25, source: partner },
    { id: charge_id, amount: 25, receiver: partner },
  ])
  t.equal((await done('getStarTransactions', { offset: 1, limit: 1 })).transactions.length, 1)
  const { at } = await sendInvoice({ ...stars, prices: [{ label: 'Gold', amount: 10_000 }] })
  for (let left = 100_000; left >= 0; left -= 10_000) {
    const trying = pay(at)
    await agree()
    const { body } = await trying
    if (left > 0) t.match(body.result, { state: 'paid' }, `${left}`)
    else t.match(body, { ok: false, description: 'Bad Request: BALANCE_TOO_LOW' })
  }
})

t.test('who has blocked the bot is refunded all the same', async (t) => {
  const kim = await client.person('Kim')
  const path = `/sandbox/people/${kim.id}`
  const before = (await done('getMyStarBalance')).amount
  const link = await done('createInvoiceLink', stars)
  const paying = client.ask('POST', `${path}/payments`, { invoice_link: link, wait_seconds: 8 })
  await agree()
  const { charge_id } = (await paying).body.result
  await next('successful_payment')
  t.equal((await client.ask('PUT', `${path}/blocks/${bot.id}`)).status, 200)
  const refund = { user_id: kim.id, telegram_payment_charge_id: charge_id }
  t.equal(await done('refundStarPayment', refund), true)
  t.equal((await done('getMyStarBalance')).amount, before)
})

t.test('nothing is paid where the message that says so has no room', async (t) => {
  const full = await scene(t, { env: { SANDBOX_MESSAGES: '3' } })
  const ask = (method: string, parameters: object) => full.client.bot(full.key, method, parameters)
  const { result: link } = (await ask('createInvoiceLink', stars)).body
  const path = `/sandbox/people/${full.ada.id}`
  const paying = full.client.ask('POST', `${path}/payments`, {
    invoice_link: link,
    wait_seconds: 8,
  })
  const { result: updates } = (await ask('getUpdates', { timeout: 10 })).body
  for (let sent = { status: 200 }; sent.status === 200; ) {
    sent = await ask('sendMessage', { chat_id: full.ada.id, text: 'hi' })
  }
  const { id } = updates.find((one: object) => 'pre_checkout_query' in one).pre_checkout_query
  await ask('answerPreCheckoutQuery', { pre_checkout_query_id: id, ok: true })
  t.match((await paying).body, { ok: false })
  const { result: balance } = (await ask('getMyStarBalance', {})).body
  t.equal(balance.amount, 100_000)
})

t.test('a subscription is ended by either side', async (t) => {
  await done('getMyStarBalance')
  const joe = await client.person('Joe')
  const subscription_period = 2_592_000
  const link = await done('createInvoiceLink', { ...stars, subscription_period })
  const path = `/sandbox/people/${joe.id}`
  t.match(await client.result('GET', `${path}/invoice?link=${encodeURIComponent(link)}`), {
    bot: { id: bot.id },
    invoice: { currency: 'XTR', subscription_period },
  })
  const paying = client.ask('POST', `${path}/payments`, { invoice_link: link, wait_seconds: 8 })
  await agree()
  const { charge_id } = (await paying).body.result
  const payment = { is_recurring: true, subscription_expiration_date: Number }
  t.match(await next('successful_payment'), payment)
  const charge = { user_id: joe.id, telegram_payment_charge_id: charge_id }
  t.equal(await done('editUserStarSubscription', { ...charge, is_canceled: true }), true)
  const end = (is_canceled: boolean) =>
    client.result('POST', `${path}/subscriptions`, { charge_id, is_canceled })
  await end(false)
  t.match(await next('subscription'), {
    user: { id: joe.id },
    invoice_payload: 'tea-1',
    state: 'active',
  })
  await end(true)
  t.match(await next('subscription'), { state: 'canceled' })
  t.match(await client.result('GET', `${path}/subscriptions`), [{ charge_id, is_canceled: true }])
  t.same(await client.result('GET', `/sandbox/people/${ada.id}/subscriptions`), [])
})

t.test('what cannot be paid is refused', async (t) => {
  const wrong: readonly (readonly [invoice: object, why: string])[] = [
    [{ ...euros, provider_token: '' }, 'PAYMENT_PROVIDER_INVALID'],
    [{ ...euros, currency: 'tea' + 's' }, 'CURRENCY_INVALID'],
    [{ ...euros, prices: [] }, 'there must be at least one price'],
    [{ ...euros, prices: [{ label: 'x', amount: 0 }] }, 'CURRENCY_TOTAL_AMOUNT_INVALID'],
    [
      { ...euros, prices: [{ label: 'x' }] },
      `can't parse labeled price: Can't find field "amount"`,
    ],
    [{ ...stars, prices: euros.prices }, 'STARS_INVOICE_INVALID'],
    [{ ...euros, payload: 'x'.repeat(129) }, 'INVOICE_PAYLOAD_INVALID'],
  ]
  for (const [invoice, why] of wrong) {
    t.match(await call('sendInvoice', { chat_id: ada.id, ...invoice }), bad(why), why)
  }
  const reply_markup = { inline_keyboard: [[{ text: 'Pay', pay: true }]] }
  const text = { chat_id: ada.id, text: 'x', reply_markup }
  t.match(await call('sendMessage', text), bad('BUTTON_TYPE_INVALID'))
  t.match(await pay({}), bad('what is to be paid is missing'))
  t.match(await pay({ invoice_link: 'nothing' }), bad('INVOICE_INVALID'))
  t.equal((await pay({ payment_id: 'x' })).status, 400)
})
