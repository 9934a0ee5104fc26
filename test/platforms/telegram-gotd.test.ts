/** Accounts on a Telegram of another make: gotd reads what the connector says, and the connector what gotd says. */
import t, { type Test } from 'tap'
import { telegramPlatform } from '../../src/platforms/telegram/platform.ts'
import { type Client, until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { account, builtGotd, code, friend, Gotd, type Heard, phone } from '../support/gotd.ts'
import { quietLogger } from '../support/logger.ts'
import { type Service, startService } from '../support/service.ts'
import { application } from './telegram/stage.ts'

// It may have to be built first, and its schema is two minutes' work of a processor.
t.setTimeout(1_800_000)
// Two of them wait until a doubt is over.
t.jobs = 3
const built = await builtGotd()
const skip = typeof built === 'string' ? built : false

const SEND = 'messages.sendMessage'

interface Scene {
  readonly server: Gotd
  readonly service: Service
  readonly client: Client
}

interface Bot extends Scene {
  readonly credentialId: number
  readonly key: string
}

async function scene(t: Test): Promise<Scene> {
  if (typeof built === 'string') throw new Error(built)
  const server = await Gotd.start(t, built.program)
  const { database: db } = await testDatabase(t)
  const media = { open: () => Promise.reject(new Error('there are no files')) }
  const options = { db, application, media, logger: quietLogger, entrance: server.entrance }
  const service = await startService(t, { platforms: [telegramPlatform(options)] })
  return { server, service, client: await service.client() }
}

async function bot(t: Test, centre = 2): Promise<Bot> {
  const made = await scene(t)
  const { client, server } = made
  await server.tell({ do: 'home', centre })
  const { session_id } = await client.result('POST', '/platforms/telegram/link/start', { phone })
  const given = { session_id, otp: code }
  const { credential } = await client.result('POST', '/platforms/telegram/link/verify', given)
  const credentialId: number = credential.credential_id
  await client.state(credentialId, 'active')
  const { key } = await client.key(credentialId)
  return { ...made, credentialId, key }
}

const send = ({ client, key }: Bot, text: string, more: object = {}) =>
  client.bot(key, 'sendMessage', { chat_id: friend, text, ...more })

/** The update with this text, which comes once. */
const hears = ({ client, key }: Bot, text: string) =>
  until(async () => {
    const { body } = await client.bot(key, 'getUpdates', { timeout: 1 })
    const found = body.result.filter((update: { message?: { text?: string } }) => {
      return update.message?.text === text
    })
    if (found.length > 1) throw new Error(`"${text}" has come ${found.length} times`)
    return found[0]
  })

const sendings = ({ server }: Bot, text: string) =>
  server.requests(SEND).filter((request) => request.text === text)

/** Refused or lost, it was sent again under the same random number, and taken once. */
function once(t: Test, requests: readonly Heard[]) {
  t.equal(requests.length > 1, true, 'it was sent again')
  t.equal(new Set(requests.map(({ random }) => random)).size, 1, 'under the same number')
  t.equal(new Set(requests.map(({ id }) => id)).size, requests.length, 'in other messages')
  t.equal(requests.filter(({ done }) => done).length, 1, 'and taken once')
}

const centres = (requests: readonly Heard[]) =>
  [...new Set(requests.map(({ centre }) => centre))].sort()

t.test('an account of gotd', { skip, buffered: true }, async (t) => {
  const scene = await bot(t)
  const { server, service, client, credentialId } = scene

  await t.test('its texts are decoded', async (t) => {
    const text = '<b>Grüße</b> 🎉 <a href="https://example.org/?a=1&amp;b=2">there</a>'
    const { body } = await send(scene, text, { parse_mode: 'HTML' })
    t.match(body, { ok: true, result: { from: { id: account }, chat: { id: friend } } })
    const [request, ...more] = sendings(scene, 'Grüße 🎉 there')
    t.match(request, { peer: friend, random: /^-?[1-9]\d*$/, centre: 2, done: true })
    t.strictSame(request?.entities, [
      { type: 'messageEntityBold', offset: 0, length: 5 },
      { type: 'messageEntityTextUrl', offset: 9, length: 5, url: 'https://example.org/?a=1&b=2' },
    ])
    t.strictSame(more, [])
    t.strictSame(body.result.entities, [
      { type: 'bold', offset: 0, length: 5 },
      { type: 'text_link', offset: 9, length: 5, url: 'https://example.org/?a=1&b=2' },
    ])
  })

  for (const form of ['whole', 'short', 'shortest', 'too long'] as const) {
    await t.test(`it is told of a text in the form "${form}"`, async (t) => {
      const text = `🎉 ${form}`
      const entities = [{ type: 'messageEntityBold', offset: 3, length: 5 }]
      await server.tell({ do: 'write', form, text, entities })
      const update = await hears(scene, text)
      t.match(update.message, {
        from: { id: friend, first_name: 'Grace', username: 'grace_of_gotd' },
        chat: { id: friend, type: 'private' },
        entities: [{ type: 'bold', offset: 3, length: 5 }],
      })
    })
  }

  await t.test('it goes on with its key after a restart, and has what it missed', async (t) => {
    const before = server.heard.length
    await service.gateway.stop()
    await server.tell({ do: 'write', text: 'meanwhile' })
    await service.restart()
    await client.state(credentialId, 'active')
    await hears(scene, 'meanwhile')
    t.ok(server.heard.length > before)
    t.equal(new Set(server.heard.map((request) => request.key)).size, 1, 'no key was exchanged')
  })

  await t.test('a connection is lost in the middle of a sending', async (t) => {
    for (const kind of ['cut', 'lost'] as const) {
      await server.fault(SEND, { kind })
      const text = `over a connection that is ${kind}`
      t.match((await send(scene, text)).body, { ok: true, result: { text } })
      once(t, sendings(scene, text))
    }
    await server.tell({ do: 'write', text: 'afterwards', form: 'short' })
    await hears(scene, 'afterwards')
  })

  await t.test('the salt has changed', async (t) => {
    const [salt, text] = ['-81985529216486896', 'with another salt']
    await server.fault(SEND, { kind: 'salt', salt })
    const before = server.heard.length
    t.match((await send(scene, text)).body, { ok: true, result: { text } })
    once(t, sendings(scene, text))
    const requests = server.heard.slice(before)
    const refused = requests.findIndex((request) => request.refused === 48)
    t.not(requests[refused]?.salt, salt)
    t.ok(requests.slice(refused).some((request) => request.salt === salt))
  })

  // Its messages are too old, or too new.
  for (const [seconds, objection] of [
    [3_600, 16],
    [0, 17],
    [-3_600, 17],
    [0, 16],
  ] as const) {
    await t.test(`the clock goes to ${seconds} seconds ahead`, async (t) => {
      const before = server.heard.length
      await server.tell({ do: 'shift', seconds })
      const text = `in another time, ${before}`
      t.match((await send(scene, text)).body, { ok: true, result: { text } })
      t.equal(sendings(scene, text).filter(({ done }) => done).length, 1)
      t.ok(server.heard.slice(before).some(({ refused }) => refused === objection))
      const late = `at last, ${before}`
      await server.tell({ do: 'write', text: late, form: 'short' })
      await hears(scene, late)
    })
  }

  await t.test('it has to wait', async (t) => {
    await server.fault(SEND, { kind: 'error', code: 420, text: 'FLOOD_WAIT_1' })
    t.match((await send(scene, 'a second later')).body, { ok: true })
    once(t, sendings(scene, 'a second later'))
    // They are to follow it, so that gotd refuses them as well.
    await server.fault(SEND, { kind: 'error', code: 420, text: 'FLOOD_WAIT_1' })
    const texts = ['one of three', 'two of three', 'three of three']
    for (const { body } of await Promise.all(texts.map((text) => send(scene, text)))) {
      t.equal(body.ok, true)
    }
    for (const text of texts) {
      t.equal(sendings(scene, text).filter(({ done }) => done).length, 1)
    }
    await server.fault(SEND, { kind: 'error', code: 420, text: 'FLOOD_WAIT_30' })
    t.strictSame((await send(scene, 'much later')).body, {
      ok: false,
      error_code: 429,
      description: 'Too Many Requests: retry after 30',
      parameters: { retry_after: 30 },
    })
    t.equal(sendings(scene, 'much later').length, 1)
    const { reason } = await client.state(credentialId, 'degraded')
    t.equal(reason, 'flood_wait')
  })
})

t.test('an account of another data centre', { skip, buffered: true }, async (t) => {
  const scene = await bot(t, 4)
  const { server, service, client, credentialId } = scene
  await t.test('is linked there', async (t) => {
    t.strictSame(centres(server.requests('auth.sendCode')), [2, 4])
    t.strictSame(centres(server.requests('auth.signIn')), [4])
    t.match((await send(scene, 'from there')).body, { ok: true })
    t.strictSame(centres(server.requests(SEND)), [4])
  })

  await t.test('goes there after a restart', async (t) => {
    const before = server.heard.length
    await service.restart()
    await client.state(credentialId, 'active')
    await server.tell({ do: 'write', text: 'to there', form: 'short' })
    await hears(scene, 'to there')
    t.strictSame(centres(server.heard.slice(before)), [4])
  })

  await t.test('is signed out where the key is no longer known', async (t) => {
    await server.tell({ do: 'revoke' })
    const { body } = await send(scene, 'too late')
    t.equal(body.ok, false)
    const record = await client.state(credentialId, 'logged_out')
    t.equal(record.reason, 'session_revoked')
    t.strictSame(
      sendings(scene, 'too late').filter(({ done }) => done),
      [],
    )
  })
})

t.test('an account that was moved', { skip, buffered: true }, async (t) => {
  const scene = await bot(t)
  const { server, client, credentialId } = scene
  await server.tell({ do: 'home', centre: 4 })
  const { body } = await send(scene, 'to where it lives now')
  // Its key is not known there, and is kept for the day on which it comes back.
  t.equal(body.ok, false)
  const { reason } = await client.state(credentialId, 'connecting')
  t.equal(reason, 'session_revoked')
  await server.tell({ do: 'home', centre: 2 })
  await client.state(credentialId, 'active')
  t.match((await send(scene, 'back again')).body, { ok: true })
  const here = server.heard.filter((request) => request.centre === 2)
  t.equal(new Set(here.map((request) => request.key)).size, 1)
})
