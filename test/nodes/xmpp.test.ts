/** The owner of an XMPP account ends: killed with a send under way, or stopped, when the next one goes on with its stream. */
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { Relay } from '../support/relay.ts'
import { startService } from '../support/service.ts'
import { Slixmpp } from '../support/slixmpp.ts'
import type { XmppServerOptions } from '../support/xmpp-server.ts'
import { type XmppServerKind, xmppServers } from '../support/xmpp-servers.ts'
import { startRemote } from './remote-service.ts'

/** Logins take a while after a kill, and every call waits for the next owner. */
const HOLD_MS = '20000'

let phones = 9801

/** Two nodes, of which the first owns the account; its connections run through a line that can be cut. */
async function scene(t: Test, kind: XmppServerKind, options: XmppServerOptions = {}) {
  const server = await kind.start(options)
  t.teardown(() => server.stop())
  const line = await Relay.start(() => server.port)
  t.teardown(() => line.stop())
  const slixmpp = new Slixmpp()
  t.teardown(() => slixmpp.stop())
  const friendJid = await server.register('friend', 'secret')
  const friend = await slixmpp.client(`${friendJid}/phone`, 'secret', server.port)
  const { url: databaseUrl } = await testDatabase(t)
  const env = { HOLD_MS }
  const owner = await startRemote(t, { databaseUrl, name: 'owner', env })
  const client = await owner.client(`+1415555${phones++}`)
  const jid = await server.register('bot', 'secret')
  const link = { jid, password: 'secret', server: `xmpp://127.0.0.1:${line.port}` }
  const { credential } = await client.result('POST', '/platforms/xmpp/link/start', link)
  await client.state(credential.credential_id, 'active')
  const { key } = await client.key(credential.credential_id)
  const DATA_DIR = owner.dataDir
  const CLUSTER_ADDRESS = 'https://127.0.0.1:0'
  const edge = await startService(t, {
    databaseUrl,
    env: { ...env, NODE_NAME: 'edge', DATA_DIR, CLUSTER_ADDRESS },
  })
  const through = client.at(edge.url)
  const send = (text: string) => through.bot(key, 'sendMessage', { chat_id: `@${friendJid}`, text })
  const { body } = await send('before')
  t.match(body, { ok: true })
  const got = async (text: string) => {
    const { status } = await send('after')
    t.equal(status, 200)
    await friend.sees(({ body }) => body === 'after')
    return friend.seen.filter((seen) => seen.body === text)
  }
  /** The texts of all updates that came since this was asked for the last time. */
  let offset = 0
  const texts = async (): Promise<string[]> => {
    const { body } = await through.bot(key, 'getUpdates', { offset, timeout: 1 })
    offset = (body.result?.at(-1)?.update_id ?? offset - 1) + 1
    return (body.result ?? []).map(({ message }: { message?: { text?: string } }) => message?.text)
  }
  return { owner, friend, jid, line, send, got, texts, before: body.result }
}

for (const kind of xmppServers) {
  const { name, skip } = kind
  t.test(`${name}: what had arrived is not sent again`, { skip }, async (t) => {
    t.setTimeout(180_000)
    const { owner, friend, line, send, got, before } = await scene(t, kind)
    line.silence('answers')
    const answer = send('under way')
    const { id } = await friend.sees(({ body }) => body === 'under way')
    await owner.end('SIGKILL')
    const { body } = await answer
    t.match(body, { ok: true, result: { text: 'under way', chat: before.chat } })
    t.ok(body.result.message_id > before.message_id)
    t.same(
      (await got('under way')).map((seen) => seen.id),
      [id],
    )
  })
}

/** After its login, a session reads the archive for the last time so much later. */
const AT_REST_MS = 12_000
/** What a login does and a resumption does not. */
const LOGIN = /urn:xmpp:mam:2|xmpp-bind|<presence|urn:xmpp:carbons|bookmarks/

for (const { name, skip, ...kind } of xmppServers) {
  t.test(`${name}: a node that stops leaves its stream to the next one`, { skip }, async (t) => {
    t.setTimeout(180_000)
    const { owner, friend, jid, line, send, texts } = await scene(t, { name, skip, ...kind })
    await pause(AT_REST_MS)
    const wire = line.overhear()
    let isOver = false
    const stopped = owner.end('SIGTERM').finally(() => {
      isOver = true
    })
    const written: string[] = []
    while (!isOver) {
      const text = `${written.length} in the gap`
      written.push(text)
      friend.send(jid, text)
      await pause(100)
    }
    await stopped
    friend.send(jid, 'the last')
    t.match((await send('after the stop')).body, { ok: true })
    const got: string[] = []
    await until(async () => {
      got.push(...(await texts()))
      return got.includes('the last')
    })
    got.push(...(await texts()))
    t.same(got, [...written, 'the last'], 'each message once, and in order')
    t.match(wire.answered.join(''), /<resumed /)
    const asked = wire.asked.join('')
    t.match(asked, /<resume /)
    t.notMatch(asked, LOGIN)
    t.notMatch(asked, /<\/stream:stream>/, 'the stream was not closed')
    await friend.sees(({ body }) => body === 'after the stop')
    t.equal(friend.seen.filter(({ body }) => body === 'after the stop').length, 1)
  })
}

const [prosody] = xmppServers
if (!prosody) throw new Error('There is no XMPP server')

t.test(
  'what was lost with its owner is sent by the next one',
  { skip: prosody.skip },
  async (t) => {
    t.setTimeout(180_000)
    const { owner, line, send, got, before } = await scene(t, prosody)
    const lost = line.loseRequest(/under way/)
    const answer = send('under way')
    await lost
    await owner.end('SIGKILL')
    const { body } = await answer
    t.match(body, { ok: true, result: { text: 'under way', chat: before.chat } })
    t.equal((await got('under way')).length, 1)
  },
)

t.test('a server without an archive leaves it open', { skip: prosody.skip }, async (t) => {
  t.setTimeout(180_000)
  const { owner, friend, line, send, got } = await scene(t, prosody, { withoutArchive: true })
  line.silence('answers')
  const answer = send('under way')
  await friend.sees(({ body }) => body === 'under way')
  await owner.end('SIGKILL')
  t.same((await answer).body, {
    ok: false,
    error_code: 504,
    description:
      'Gateway Timeout: the node that had the call has ended; the message may have been sent',
  })
  t.equal((await got('under way')).length, 1)
})
