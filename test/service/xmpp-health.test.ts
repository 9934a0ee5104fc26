/** A server that is away, as its accounts show it: one incident with a count, and an end to it by itself. */
import t from 'tap'
import { until } from '../support/client.ts'
import { prosodyMissing } from '../support/prosody.ts'
import { xmppScene } from './xmpp-scene.ts'

interface Line {
  readonly from: string
  readonly to: string
  readonly event: string
  readonly reason: string | null
  readonly count: number
}

const skip = prosodyMissing ?? false

t.test('reconnects to a server that is away are one incident', { skip }, async (t) => {
  const { prosody, slixmpp, service, client } = await xmppScene(t)
  const link = async (name: string) => {
    const jid = await prosody.register(name, 'secret')
    const fields = { jid, password: 'secret', server: prosody.server }
    const { credential } = await client.result('POST', '/platforms/xmpp/link/start', fields)
    const path = `/platforms/credentials/${credential.credential_id}`
    await client.state(credential.credential_id, 'active')
    const { key } = await client.key(credential.credential_id)
    const lines = async (): Promise<Line[]> =>
      (await client.result('GET', `${path}/transitions?limit=100`)).items
    return { jid, key, path, lines, id: credential.credential_id }
  }
  const accounts = [await link('one'), await link('two')]
  await prosody.kill()
  await service.restart()

  for (const { id, path, lines } of accounts) {
    await client.state(id, 'connecting')
    const attempts = (all: readonly Line[]) =>
      all.filter(({ from, to }) => from === 'live.starting' && to === 'waiting')
    await until(async () => (attempts(await lines())[0]?.count ?? 0) >= 3)
    t.match(await client.result('GET', path), {
      state: 'connecting',
      reason: 'network',
      action: 'wait',
      online_since: null,
      health: { healthy: false },
    })
    const loop = (await lines()).filter(({ count }) => count > 1)
    const texts = loop.map(({ from, to, event, reason }) => [from, to, event, reason].join(' '))
    t.equal(new Set(texts).size, texts.length, 'each step is one line')
    t.equal(attempts(await lines()).length, 1)
    t.ok(loop.length <= 3, `${loop.length} lines`)
  }

  await prosody.up()
  const friendJid = await prosody.register('friend', 'secret')
  const friend = await slixmpp.client(`${friendJid}/phone`, 'secret', prosody.port)
  for (const { id, jid, key, path } of accounts) {
    await client.state(id, 'active')
    t.match(await client.result('GET', path), { reason: null, action: 'none' })
    friend.send(jid, 'back again')
    const { body } = await client.bot(key, 'getUpdates', { timeout: 20 })
    t.match(body.result, [{ message: { text: 'back again' } }])
  }
})

t.test(
  'a login that is refused is tried once more before the account is out',
  { skip },
  async (t) => {
    t.setTimeout(240_000)
    const { prosody, client } = await xmppScene(t)
    const jid = await prosody.register('doubted', 'secret')
    const fields = { jid, password: 'secret', server: prosody.server }
    const { credential } = await client.result('POST', '/platforms/xmpp/link/start', fields)
    const id = credential.credential_id
    await client.state(id, 'active')
    // A server that is there ends the streams of the account and says why, which is believed at once.
    const changeWhileAway = async () => {
      await prosody.kill()
      await prosody.seed(['doubted'], 'another')
      await prosody.up()
    }
    const isDoubted = () =>
      until(async () => {
        const record = await client.result('GET', `/platforms/credentials/${id}`)
        return record.state === 'connecting' && record.reason === 'password_changed'
      })

    await changeWhileAway()
    await isDoubted()
    await prosody.setPassword('doubted', 'secret')
    t.match(await client.state(id, 'active', 90_000), { reason: null }, 'it had passed')

    await changeWhileAway()
    await isDoubted()
    const out = await client.state(id, 'logged_out', 90_000)
    t.match(out, { reason: 'password_changed', action: 'link_again' })
  },
)
