/** Paid media: previews until a person pays with Stars, the files afterwards, and the seller's side of the sale. */
import t from 'tap'
import { callWithFiles, film, picture } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t, { env: { FFMPEG: '' } })
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const files = { picture: { bytes: await picture() }, film: { bytes: film } }
const call = (method: string, parameters: object = {}) =>
  JSON.stringify(parameters).includes('attach://')
    ? callWithFiles(service.url, key, method, { ...parameters }, files)
    : client.bot(key, method, parameters)

async function done(method: string, parameters: object = {}) {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}

const photo = { type: 'photo', media: 'attach://picture' }
const video = { type: 'video', media: 'attach://film', width: 64, height: 48, duration: 2 }
const live = { type: 'live_photo', media: 'attach://film', photo: 'attach://picture' }
const offer = { chat_id: ada.id, star_count: 40, media: [photo], caption: 'Look', payload: 'p-1' }

const inboxOf = async (person: { id: number }) =>
  (await client.result('GET', `/sandbox/people/${person.id}/inbox?wait_seconds=0`)).messages
const seenBy = async (person: { id: number }, message_id: number) =>
  (await inboxOf(person)).find((one: { message_id: number }) => one.message_id === message_id)
const pay = (person: { id: number }, chat: number, message_id: number) =>
  client.ask('POST', `/sandbox/people/${person.id}/payments`, { chat, message_id })
const starsOf = async ({ id }: { id: number }) =>
  (await client.result('GET', `/sandbox/people/${id}`)).star_balance

t.test('a person pays, sees the files, and gets the Stars back', async (t) => {
  const sent = await done('sendPaidMedia', { ...offer, media: [photo, video, live] })
  t.match(sent, {
    caption: 'Look',
    paid_media: {
      star_count: 40,
      paid_media: [
        { type: 'photo', photo: [{ file_id: String }] },
        { type: 'video', video: { file_id: String, duration: 2 } },
        { type: 'live_photo', live_photo: { file_id: String, photo: [{ file_id: String }] } },
      ],
    },
  })
  const { message_id } = sent
  const before = await seenBy(ada, message_id)
  t.same(before.paid_media, {
    star_count: 40,
    items: [
      { width: 320, height: 240 },
      { width: 64, height: 48, duration: 2 },
      { width: 320, height: 240 },
    ],
  })
  t.equal(before.caption, 'Look')

  const [had, earned] = [await starsOf(ada), await done('getMyStarBalance')]
  const { body: paid } = await pay(ada, bot.id, message_id)
  t.match(paid, { result: { state: 'paid', total_amount: 40, charge_id: String } })
  t.equal(await starsOf(ada), had - 40)
  t.equal((await done('getMyStarBalance')).amount, earned.amount + 40)
  const after = await seenBy(ada, message_id)
  t.match(after.paid_media.items, [
    { media: { type: 'photo', url: String } },
    { media: { type: 'video', url: String } },
    { media: { type: 'photo', live: { type: 'video', url: String } } },
  ])
  t.match(await pay(ada, bot.id, message_id), bad('MEDIA_ALREADY_PAID'))

  const updates = await done('getUpdates', { timeout: 5 })
  t.match(updates, [{ purchased_paid_media: { from: { id: ada.id }, paid_media_payload: 'p-1' } }])
  const { transactions } = await done('getStarTransactions')
  const source = {
    type: 'user',
    transaction_type: 'paid_media_payment',
    user: { id: ada.id },
    paid_media: [{ type: 'photo' }, { type: 'video' }, { type: 'live_photo' }],
    paid_media_payload: 'p-1',
  }
  t.match(transactions, [{ id: paid.result.charge_id, amount: 40, source }])
  t.notOk('invoice_payload' in transactions[0].source)

  const refund = { user_id: ada.id, telegram_payment_charge_id: paid.result.charge_id }
  t.equal(await done('refundStarPayment', refund), true)
  t.equal(await starsOf(ada), had)
  t.match((await seenBy(ada, message_id)).paid_media.items, [{ media: undefined }, {}, {}])
  t.match(await call('refundStarPayment', refund), bad('CHARGE_ALREADY_REFUNDED'))
  t.match((await pay(ada, bot.id, message_id)).body, { result: { state: 'paid' } })
})

t.test('the caption can be edited, the files cannot', async (t) => {
  const { message_id } = await done('sendPaidMedia', offer)
  const there = { chat_id: ada.id, message_id }
  t.match(await done('editMessageCaption', { ...there, caption: 'Look here' }), {
    caption: 'Look here',
    paid_media: { paid_media: [{ type: 'photo' }] },
  })
  const media = { ...photo, media: 'attach://picture' }
  t.match(await call('editMessageMedia', { ...there, media }), bad("message media can't be edited"))
  t.match((await seenBy(ada, message_id)).paid_media.items, [{ width: 320, media: undefined }])
})

t.test('it is forwarded with its price, and never copied', async (t) => {
  const kim = await client.person('Kim')
  await client.write(kim.id, bot.id, 'hello')
  const { message_id } = await done('sendPaidMedia', offer)
  const from = { from_chat_id: ada.id, message_id, chat_id: kim.id }
  t.match(await call('copyMessage', from), bad("message can't be copied"))
  const forwarded = await done('forwardMessage', from)
  t.match(forwarded, { paid_media: { star_count: 40, paid_media: [{ type: 'photo' }] } })
  t.match((await seenBy(kim, forwarded.message_id)).paid_media.items, [{ media: undefined }])
  // The files outlive the first message.
  await done('deleteMessage', { chat_id: ada.id, message_id })
  t.match((await pay(kim, bot.id, forwarded.message_id)).body, { result: { state: 'paid' } })
  const [{ media }] = (await seenBy(kim, forwarded.message_id)).paid_media.items
  const headers = { authorization: `Bearer ${client.token}` }
  t.equal((await fetch(`${service.url}${media.url}`, { headers })).status, 200)
})

t.test('the owner of a channel earns what its readers pay, and no update comes', async (t) => {
  const chat = { kind: 'channel', title: 'News', owner: bot.id, members: [ada.id] }
  const { id: chat_id } = await client.result('POST', '/sandbox/chats', chat)
  const [last] = await done('getUpdates', { offset: -1 })
  const { message_id } = await done('sendPaidMedia', { ...offer, chat_id })
  const before = (await done('getMyStarBalance')).amount
  t.match((await pay(ada, chat_id, message_id)).body, { result: { state: 'paid' } })
  t.equal((await done('getMyStarBalance')).amount, before + 40)
  const updates: object[] = await done('getUpdates', { offset: last.update_id + 1 })
  t.notOk(updates.some((update) => 'purchased_paid_media' in update))
})

t.test('wrong offers are refused', async (t) => {
  const send = (more: object) => call('sendPaidMedia', { ...offer, ...more })
  t.match(await send({ star_count: 0 }), bad('invalid media price specified'))
  t.match(await send({ star_count: 25_001 }), bad('invalid media price specified'))
  t.match(await send({ payload: 'x'.repeat(129) }), bad('PAYLOAD_INVALID'))
  t.match(await send({ media: [] }), bad('invalid number of paid media specified'))
  const audio = { type: 'audio', media: 'attach://film' }
  const unread = "can't parse InputPaidMedia: "
  t.match(await send({ media: [audio] }), bad(`${unread}type "audio" is unsupported`))
  const absent = { type: 'photo', media: 'attach://absent' }
  t.match(await send({ media: [absent] }), bad(`${unread}media not found`))
  t.match(await send({ media: '{' }), bad("can't parse paid media JSON object"))
  const poor = await client.person('Poor')
  await client.write(poor.id, bot.id, 'hi')
  const { message_id } = await done('sendPaidMedia', {
    ...offer,
    chat_id: poor.id,
    star_count: 25_000,
  })
  for (let left = await starsOf(poor); left >= 25_000; left = await starsOf(poor)) {
    const { message_id } = await done('sendPaidMedia', {
      ...offer,
      chat_id: poor.id,
      star_count: 25_000,
    })
    await pay(poor, bot.id, message_id)
  }
  t.match(await pay(poor, bot.id, message_id), bad('BALANCE_TOO_LOW'))
  t.match((await seenBy(poor, message_id)).paid_media.items, [{ media: undefined }])
})
