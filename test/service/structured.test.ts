/** Places, contacts and dice, live locations, protected content, and what members may not send. */
import t from 'tap'
import { callWithFiles, picture } from './files.ts'
import { raw, refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object = {}) =>
  client.bot(key, method, { chat_id: ada.id, ...parameters })
const done = async (method: string, parameters: object = {}) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const seen = async () => {
  const path = `/sandbox/people/${ada.id}/inbox?chat=${bot.id}&limit=1`
  return (await client.result('GET', path)).messages[0]
}
const place = { latitude: 35.7, longitude: 51.4 }

t.test('places and contacts arrive as they were sent', async (t) => {
  t.match(await done('sendLocation', { ...place, horizontal_accuracy: 20 }), {
    location: { ...place, horizontal_accuracy: 20 },
  })
  t.match(await seen(), { location: { ...place, horizontal_accuracy: 20 } })
  const venue = { title: 'Tower', address: 'West' }
  const sent = await done('sendVenue', { ...place, ...venue, foursquare_id: '4b' })
  t.match(sent, { location: place, venue: { ...venue, location: place, foursquare_id: '4b' } })
  t.match(await seen(), { location: place, venue })
  const contact = { phone_number: '+15550100', first_name: 'Eve', vcard: 'BEGIN:VCARD' }
  t.match(await done('sendContact', contact), { contact })
  t.match(await seen(), { contact })
})

const FLOATS = /"(latitude|longitude|horizontal_accuracy|x_shift|y_shift|scale)":([^,}]*)/g

t.test('what may have digits behind its point is written with six of them', async (t) => {
  const floats = async (method: string, parameters: object = {}) => {
    const query = new URLSearchParams(
      Object.entries({ chat_id: ada.id, ...parameters }).map(([name, value]): [string, string] => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    )
    const { text } = await raw(service.url, `/bot${key}/${method}?${query}`)
    return [...text.matchAll(FLOATS)].map(([, name, written]) => `${name} ${written}`)
  }
  const whole = { latitude: 35, longitude: -1.25 }
  const written = ['latitude 35.000000', 'longitude -1.250000']
  const exact = await floats('sendLocation', { ...whole, horizontal_accuracy: 20 })
  t.strictSame(exact, [...written, 'horizontal_accuracy 20.000000'])
  const venue = { title: 'Tower', address: 'West' }
  t.strictSame(await floats('sendVenue', { ...whole, ...venue }), [...written, ...written])
  const rich_message = { blocks: [{ type: 'map', location: whole }] }
  t.strictSame(await floats('sendRichMessage', { rich_message }), written)
  const path = `/sandbox/people/${ada.id}/messages`
  await client.result('POST', path, { to: bot.id, location: whole })
  t.strictSame(await floats('getUpdates', { timeout: 5 }), written)
  const stickers = [
    {
      sticker: 'attach://hat',
      format: 'static',
      emoji_list: ['🎩'],
      mask_position: { point: 'forehead', x_shift: 0, y_shift: -1, scale: 2 },
    },
  ]
  const set = { user_id: ada.id, name: `masks_by_${bot.username}`, title: 'Masks' }
  const given = { ...set, sticker_type: 'mask', stickers }
  const hat = { bytes: await picture(512, 512) }
  t.match(await callWithFiles(service.url, key, 'createNewStickerSet', given, { hat }), {
    body: { result: true },
  })
  const mask = await floats('getStickerSet', { name: set.name })
  t.strictSame(mask, ['x_shift 0.000000', 'y_shift -1.000000', 'scale 2.000000'])
})

t.test(
  'a contact shows the digits of its number, with or without a plus before them',
  async (t) => {
    const shown = async (phone_number: string) =>
      (await done('sendContact', { phone_number, first_name: 'Eve' })).contact.phone_number
    t.equal(await shown('+0 0000 000 00 00'), '+000000000000')
    t.equal(await shown('06-1803 (5176)'), '0618035176')
    t.equal(await shown('ask me'), 'ask me')
  },
)

t.test('dice are thrown by the messenger, within their sides', async (t) => {
  const sides = { '🎲': 6, '🎯': 6, '🎳': 6, '🏀': 5, '⚽': 5, '🎰': 64 }
  for (const [emoji, most] of Object.entries(sides)) {
    const values: number[] = []
    for (let throws = 0; throws < 5; throws += 1) {
      const { dice } = await done('sendDice', { emoji })
      t.equal(dice.emoji, emoji)
      values.push(dice.value)
    }
    t.ok(
      values.every((value) => value >= 1 && value <= most),
      `${emoji}: ${values}`,
    )
  }
  t.match((await seen()).dice, { emoji: '🎰', value: Number })
})

t.test('a live location moves until it is stopped', async (t) => {
  const { message_id } = await done('sendLocation', { ...place, live_period: 600 })
  const there = { latitude: 1, longitude: 2 }
  const moved = await done('editMessageLiveLocation', { message_id, ...there, heading: 90 })
  t.match(moved, { location: { ...there, live_period: 600, heading: 90 }, edit_date: Number })
  const same = await call('editMessageLiveLocation', { message_id, ...there, heading: 90 })
  t.match(same.body.description, 'message is not modified')
  const stopped = await done('stopMessageLiveLocation', { message_id })
  t.match(stopped.location, there)
  t.equal(stopped.location.live_period, undefined)
  const edit = { message_id, ...place }
  t.match(await call('editMessageLiveLocation', edit), bad("message can't be edited"))
  t.match(await call('stopMessageLiveLocation', { message_id }), bad("message can't be edited"))
  const text = await done('sendMessage', { text: 'x' })
  const other = { message_id: text.message_id, ...place }
  t.match(
    await call('editMessageLiveLocation', other),
    bad('there is no live location in the message to edit'),
  )
})

t.test('what is passed on is no longer live, and keeps the rest', async (t) => {
  const { message_id } = await done('sendLocation', { ...place, live_period: 600 })
  const passed = { from_chat_id: ada.id, message_id }
  const { location, forward_origin } = await done('forwardMessage', passed)
  t.match(location, place)
  t.equal(location.live_period, undefined)
  t.equal(forward_origin.sender_user.id, bot.id)
  await done('copyMessage', passed)
  t.match(await seen(), { location: place })
  t.equal((await seen()).forwarded_from, undefined)
})

t.test('protected content stays where it is', async (t) => {
  const sent = await done('sendMessage', { text: 'secret', protect_content: true })
  t.equal(sent.has_protected_content, true)
  t.equal((await seen()).has_protected_content, true)
  const passed = { from_chat_id: ada.id, message_id: sent.message_id }
  const refusal = bad("message has protected content and can't be forwarded")
  t.match(await call('forwardMessage', passed), refusal)
  t.match(await call('copyMessage', passed), refusal)
})

t.test('a service message is not passed on', async (t) => {
  const group = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Group',
    owner: bot.id,
    members: [ada.id],
  })
  await done('setChatTitle', { chat_id: group.id, title: 'New' })
  const path = `/sandbox/people/${ada.id}/inbox?chat=${group.id}`
  const [{ message_id }] = (await client.result('GET', path)).messages
  const passed = { from_chat_id: group.id, message_id }
  t.match(await call('forwardMessage', passed), bad("message can't be forwarded"))
  t.match(await call('copyMessage', passed), bad("message can't be copied"))
})

t.test('a member may send only what the chat allows', async (t) => {
  const group = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Quiet',
    owner: ada.id,
    members: [bot.id],
  })
  const { key: adasKey } = await client.key(await client.link(ada))
  const permissions = { can_send_messages: true, can_send_polls: true }
  const chat_id = group.id
  const { body } = await client.bot(adasKey, 'setChatPermissions', { chat_id, permissions })
  t.equal(body.ok, true)
  await done('sendMessage', { chat_id, text: 'allowed' })
  await done('sendPoll', { chat_id, question: 'Allowed?', options: ['Yes'] })
  t.match(await call('sendDice', { chat_id }), bad('not enough rights to send dice to the chat'))
})
