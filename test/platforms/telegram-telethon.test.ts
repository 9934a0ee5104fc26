/** The test network is judged by a client that its authors did not make: Telethon, in all ways of framing, and in trouble. */
import { createHash, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { until } from '../support/client.ts'
import { TelegramNetwork } from '../support/telegram-dc/network.ts'
import type { Person } from '../support/telegram-dc/people.ts'
import { Telethon, type TelethonClient, TelethonError, type Way } from '../support/telethon.ts'

// Its packages may have to be fetched first.
t.setTimeout(600_000)
const telethon = await Telethon.start()
const skip = typeof telethon === 'string' ? telethon : false
if (typeof telethon !== 'string') t.teardown(() => telethon.stop())

const OTHER = 4

/** A network that ends without defects of its own. */
async function network(t: Test): Promise<TelegramNetwork> {
  const network = await TelegramNetwork.start(t)
  t.teardown(() => {
    if (network.defects.length > 0) throw new AggregateError(network.defects)
  })
  return network
}

async function signedIn(network: TelegramNetwork, person: Person, way?: Way) {
  if (typeof telethon === 'string') throw new Error(telethon)
  const client = await telethon.client(network, way)
  await client.signIn(person)
  return client
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (cause) => (cause instanceof TelethonError ? cause : Promise.reject(cause)),
  )

t.test('it signs in and writes, whatever its frames look like', { skip }, async (t) => {
  const net = await network(t)
  const ways = ['full', 'abridged', 'intermediate', 'padded', 'obfuscated'] as const
  const [friend, ...people] = Array.from({ length: ways.length + 1 }, () => net.person())
  const reader = await signedIn(net, friend!)
  for (const [place, way] of ways.entries()) {
    const person = people[place]!
    const client = await signedIn(net, person, way)
    const [connection] = net.connectionsOf(person)
    t.equal(connection?.form, way === 'obfuscated' ? 'abridged' : way)
    t.match(await client.method('get_me'), { id: person.id, phone: person.phone, is_self: true })
    // Longer than what one byte tells the length of.
    const text = `${way} ${'long '.repeat(300)}`.trim()
    const sent = await client.method('send_message', [friend!.username, text])
    t.match(sent, { out: true, message: text, peer_id: { user_id: friend!.id } })
    const heard = await reader.hears(text)
    t.match(heard.heard, { out: false, peer_id: { user_id: person.id } })
  }
})

t.test('it signs in by every way that people have', { skip }, async (t) => {
  if (typeof telethon === 'string') return
  const net = await network(t)
  const far = net.person({ centre: OTHER, password: 'correct horse', hint: 'staple' })
  const client = await telethon.client(net)
  t.match(await client.signIn(far, 'correct horse'), { id: far.id }, 'in another data centre')
  t.equal(net.centres[1]!.connectionsOf(far.id).length, 1)

  const wrong = await telethon.client(net)
  const careful = net.person({ password: 'correct horse' })
  t.match(await refusal(wrong.signIn(careful, 'wrong')), { kind: 'PasswordHashInvalidError' })
  const late = await telethon.client(net)
  const person = net.person()
  await late.method('send_code_request', [`+${person.phone}`])
  const code = { do: 'sign in', phone: `+${person.phone}` }
  const other = person.code === '11111' ? '22222' : '11111'
  t.match(await refusal(late.ask({ ...code, code: other })), { kind: 'PhoneCodeInvalidError' })
  person.isCodeOld = true
  const old = late.ask({ ...code, code: person.code })
  t.match(await refusal(old), { kind: 'PhoneCodeExpiredError' })
  const banned = net.person()
  banned.isBanned = true
  t.match(await refusal(late.signIn(banned)), { kind: 'PhoneNumberBannedError' })
  const hasty = net.person()
  hasty.floodSeconds = 300
  t.match(await refusal(late.signIn(hasty)), { kind: 'FloodWaitError', seconds: 300 })
})

t.test('one client scans the code that another one shows', { skip }, async (t) => {
  if (typeof telethon === 'string') return
  const net = await network(t)
  for (const centre of [2, OTHER]) {
    const person = net.person({ centre })
    const phone = await signedIn(net, person)
    const desktop = await telethon.client(net)
    const { api_id, api_hash } = { api_id: 777, api_hash: 'hash' }
    const ask = { api_id, api_hash, except_ids: [] }
    const shown = await desktop.raw('auth.ExportLoginToken', ask)
    t.match(shown, { _: 'LoginToken' })
    const device = await phone.raw('auth.AcceptLoginToken', { token: { bytes: shown.token } })
    t.match(device, { _: 'Authorization', device_model: 'Foreigner' })
    await desktop.told('UpdateLoginToken')
    const signed = await desktop.raw('auth.ExportLoginToken', ask)
    if (centre === 2) t.match(signed, { _: 'LoginTokenSuccess' })
    else t.match(signed, { _: 'LoginTokenMigrateTo', dc_id: OTHER })
  }
})

t.test('it goes on where salts change and answers come packed', { skip }, async (t) => {
  const net = await network(t)
  Object.assign(net.habits, { packs: true, zips: true, shortens: true })
  const [person, friend] = [net.person(), net.person()]
  const [client, reader] = [await signedIn(net, person), await signedIn(net, friend)]
  for (const round of [1, 2, 3]) {
    net.changeSalts()
    const texts = Array.from({ length: 5 }, (_, place) => `round ${round}, ${place}`)
    await Promise.all(texts.map((text) => client.method('send_message', [friend.username, text])))
    for (const text of texts) t.ok(await reader.hears(text))
  }
  const all = await client.method('get_messages', [friend.username], { limit: 100 })
  t.equal(all.length, 15)
})

t.test('it pages through chats and what was written there', { skip }, async (t) => {
  const net = await network(t)
  const [person, friend] = [net.person(), net.person()]
  const client = await signedIn(net, person)
  const numbers = Array.from({ length: 120 }, (_, place) => place + 1)
  for (const number of numbers) net.delivery.send(friend, person, { message: `${number}` })
  const texts = async (fields: object) =>
    (await client.method('get_messages', [friend.username], fields)).map(
      ({ message }: { message: string }) => Number(message),
    )
  t.same(await texts({ limit: 120 }), numbers.toReversed())
  t.same(await texts({ limit: 3, offset_id: 50 }), [49, 48, 47])
  t.same(await texts({ limit: 3, min_id: 50, reverse: true }), [51, 52, 53])
  t.same(await texts({ limit: 10, min_id: 10, max_id: 14 }), [13, 12, 11])
  t.same(await texts({ limit: 2, offset_id: 50, add_offset: -2 }), [51, 50])

  const groups = [net.group([person, friend]), net.channel(friend, [person])]
  for (const group of groups) net.delivery.send(friend, group, { message: 'hello' })
  const dialogs = await client.method('get_dialogs')
  t.same(
    new Set(dialogs.map(({ name }: { name: string }) => name)),
    new Set([friend.firstName, ...groups.map(({ title }) => title)]),
  )
  await client.method('send_read_acknowledge', [friend.username])
  t.equal(person.readUpTo.get(friend.id), 120)
})

t.test('after a break it hears what it missed', { skip }, async (t) => {
  const net = await network(t)
  const [person, friend] = [net.person(), net.person()]
  const channel = net.channel(friend, [person])
  const group = net.channel(friend, [person], false)
  const client = await signedIn(net, person)
  const write = (message: string) => {
    for (const to of [person, channel, group]) net.delivery.send(friend, to, { message })
  }
  const hears = async (message: string) => {
    const peers = [`${friend.id}`, `${channel.id}`, `${group.id}`]
    for (const peer of peers) {
      const found = await client.until(
        ({ heard }) =>
          heard?.message === message &&
          `${heard.peer_id.user_id ?? heard.peer_id.channel_id}` === peer &&
          heard,
      )
      t.ok(found, `${message} in ${peer}`)
    }
  }
  write('before')
  await hears('before')
  for (const connection of net.connectionsOf(person)) connection.cut()
  write('missed')
  await until(() => client.method('get_me').catch(() => false))
  write('after')
  await hears('after')
  await hears('missed')
  const heard = client.lines.filter((line) => line.heard?.message === 'missed')
  t.equal(heard.length, 3, 'nothing is heard twice')
})

t.test('files go there and back in parts, also in another data centre', { skip }, async (t) => {
  const net = await network(t)
  const [person, friend] = [net.person(), net.person()]
  const [client, reader] = [await signedIn(net, person), await signedIn(net, friend)]
  const sum = (base64: string) =>
    createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex')
  // The first is larger than what the network takes as a small file.
  for (const size of [10 * 2 ** 20 + 1_234, 300_000, 100]) {
    const content = randomBytes(size).toString('base64')
    const file = { name: `of ${size}.bin`, content: { bytes: content } }
    const fields = { caption: `file of ${size}`, force_document: true }
    const sent = await client.ask({ do: 'file', chat: friend.username, file, fields })
    t.match(sent.media.document, { size, mime_type: 'application/octet-stream' })
    const { heard } = await reader.hears(fields.caption)
    if (size === 300_000) net.files.centres.set(sent.media.document.id.toString(), OTHER)
    const got = await reader.ask({ do: 'download', chat: person.username, message: heard!.id })
    t.equal(sum(got), sum(content), `${size} bytes`)
  }
})

t.test('its own requests are refused as the network refuses them', { skip }, async (t) => {
  const net = await network(t)
  const [person, friend] = [net.person(), net.person()]
  const client: TelethonClient = await signedIn(net, person)
  const chat = friend.username
  const { id } = await client.method('send_message', [chat, 'once'])
  const edit = (text: string) => client.method('edit_message', [chat, id, text])
  t.match(await refusal(edit('once')), { kind: 'MessageNotModifiedError' })
  t.match(await edit('**twice**'), { message: 'twice', entities: [{ _: 'MessageEntityBold' }] })
  net.delivery.send(friend, person, { message: 'mine' })
  const { heard } = await client.hears('mine')
  const theirs = client.method('edit_message', [chat, heard!.id, 'ours'])
  t.match(await refusal(theirs), { kind: 'MessageAuthorRequiredError' })
  t.match(await refusal(client.method('send_message', [chat, 'x'.repeat(4097)])), {
    kind: 'MessageTooLongError',
  })
  person.floodSeconds = 77
  const hasty = client.method('send_message', [chat, 'hasty'])
  t.match(await refusal(hasty), { kind: 'FloodWaitError', seconds: 77 })
  net.revoke(person)
  const late = client.raw('users.GetUsers', { id: [{ _: 'InputUserSelf' }] })
  t.match(await refusal(late), { kind: 'AuthKeyUnregisteredError' })
})
