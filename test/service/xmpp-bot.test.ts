/** The main job on a real network: a grammY bot on an XMPP account, behind restarts of both sides. */
import { Bot } from 'grammy'
import t from 'tap'
import { until } from '../support/client.ts'
import { prosodyMissing } from '../support/prosody.ts'
import { xmppScene } from './xmpp-scene.ts'

const skip = prosodyMissing ?? false

t.test('an echo bot answers through restarts, nothing lost or doubled', { skip }, async (t) => {
  const { prosody, slixmpp, service, client } = await xmppScene(t)

  const jid = await prosody.register('echo', 'bot-secret')
  const friendJid = await prosody.register('friend', 'friend-secret')
  const friend = (device: string) =>
    slixmpp.client(`${friendJid}/${device}`, 'friend-secret', prosody.port)
  const linked = await client.result('POST', '/platforms/xmpp/link/start', {
    jid,
    password: 'bot-secret',
    server: prosody.server,
  })
  t.match(linked, { state: 'linked', credential: { platform: 'xmpp', account: { username: jid } } })
  const { credential_id } = linked.credential
  await client.state(credential_id, 'active')
  const { key } = await client.key(credential_id)
  const witness = await client.key(credential_id)

  const bot = new Bot(key, { client: { apiRoot: service.url } })
  const answered = new Set<string>()
  bot.on('message:text', async (ctx) => {
    await ctx.reply(`echo ${ctx.msg.text}`)
    answered.add(ctx.msg.text)
  })
  /** A friend sees an answer before the bot knows that it was sent: a cut in between rightly leaves it in doubt. */
  const untilAnswered = (...texts: string[]) =>
    until(() => texts.every((text) => answered.has(text)))
  const polling = bot.start({ timeout: 5 })
  t.teardown(async () => {
    await bot.stop()
    await polling
  })

  const before = await friend('before')
  before.send(jid, 'one')
  await before.sees(({ body }) => body === 'echo one')
  await untilAnswered('one')

  const restarted = service.restart()
  before.send(jid, 'two')
  await restarted
  before.send(jid, 'three')
  await before.sees(({ body }) => body === 'echo three')
  await before.sees(({ body }) => body === 'echo two')
  await untilAnswered('two', 'three')

  await prosody.kill()
  await client.state(credential_id, 'connecting')
  await prosody.up()
  const after = await friend('after')
  after.send(jid, 'four')
  await after.sees(({ body }) => body === 'echo four', AbortSignal.timeout(30_000))
  await client.state(credential_id, 'active')

  const log: { update_id: number; message: { text: string; chat: object } }[] = []
  await until(async () => {
    const offset = (log.at(-1)?.update_id ?? 0) + 1
    const { body } = await client.bot(witness.key, 'getUpdates', { offset, timeout: 1 })
    log.push(...body.result)
    return body.result.length === 0
  })
  t.same(
    log.map(({ message }) => message.text),
    ['one', 'two', 'three', 'four'],
  )
  t.same(
    log.map(({ update_id }) => update_id),
    log.map((_, n) => log[0]!.update_id + n),
  )
  t.equal(new Set(log.map(({ message }) => JSON.stringify(message.chat))).size, 1, 'one chat')
  const echoes = [...before.seen, ...after.seen].map(({ body }) => body)
  for (const text of ['one', 'two', 'three', 'four']) {
    t.equal(echoes.filter((body) => body === `echo ${text}`).length, 1, `echo ${text}`)
  }

  const room = 'lounge@rooms.xmpp.test'
  await after.join(room, 'friend')
  const hello = { chat_id: `@${room}`, text: '<b>hello</b> all', parse_mode: 'HTML' }
  const { body } = await client.bot(witness.key, 'sendMessage', hello)
  t.match(body.result, {
    text: 'hello all',
    entities: [{ type: 'bold', offset: 0, length: 5 }],
    chat: { type: 'supergroup', username: room },
  })
  t.ok(body.result.chat.id < -1_000_000_000_000)
  await after.sees((seen) => seen.body === '*hello* all' && seen.from.startsWith(room))
  after.send(room, 'anybody here?')
  await after.sees((seen) => seen.body === 'echo anybody here?' && seen.from.startsWith(room))
})
