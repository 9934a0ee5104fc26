/** How the servers of a domain are found: by name servers alone, a few of them, and none inside. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t, { type Test } from 'tap'
import { publicResolver } from '../../src/net/resolver.ts'
import { placesResolver } from '../../src/platforms/xmpp/address.ts'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import { nameServer, type Place, type Zone } from '../net/name-server.ts'
import { opensslMissing, selfSigned } from '../support/certificate.ts'
import { quietLogger } from '../support/logger.ts'
import { startXmppStub } from '../support/xmpp-stub.ts'
import { patience } from './contract/recorder.ts'
import { Files } from './xmpp/files.ts'
import { MemoryRooms } from './xmpp/kept-rooms.ts'

const jid = 'ada@stub.test'

/** The places of the service of unencrypted beginnings; every other name is on this machine. */
const zoneWith =
  (places: readonly Place[]): Zone =>
  (name, kind) => {
    if (kind === 'SRV') return { addresses: [], places: name.startsWith('_xmpp-') ? places : [] }
    return { addresses: kind === 'A' ? ['127.0.0.1'] : [] }
  }

interface Asked {
  readonly allowPrivate: boolean
  readonly server?: string
}

async function linkBy(t: Test, zone: Zone, { allowPrivate, server }: Asked) {
  const { address, questions } = await nameServer(t, zone)
  const platform = xmppPlatform({
    logger: quietLogger,
    allowPrivate,
    names: { places: placesResolver([address]), resolve: publicResolver([address]) },
    media: new Files(),
    rooms: new MemoryRooms(),
  })
  const fields = { jid, password: 'x', ...(server !== undefined && { server }) }
  const { step } = await platform.startLink('password', fields, patience())
  return { step, questions }
}

/** Counts who connects. */
async function canary(t: Test) {
  let visits = 0
  const server = createServer((socket) => {
    visits++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { port: (server.address() as AddressInfo).port, visits: () => visits }
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

t.test(
  'servers are tried in the order of the domain',
  { skip: opensslMissing ?? false },
  async (t) => {
    const own = selfSigned('stub.test')
    const usual = getCACertificates('default')
    setDefaultCACertificates([...usual, own.cert])
    t.teardown(() => setDefaultCACertificates(usual))
    const stub = await startXmppStub(jid, {
      answer: () => undefined,
      tls: { scheme: 'xmpp', ...own },
    })
    t.teardown(stub.stop)
    const port = Number(new URL(stub.server).port)
    const asked: unknown[] = []
    t.intercept(globalThis, 'fetch', {
      value: async (url: unknown) => {
        asked.push(url)
        throw new Error('nothing is fetched here')
      },
    })
    const { step } = await linkBy(
      t,
      zoneWith([
        { priority: 2, host: 'here.test', port },
        { priority: 1, host: 'dead.test', port: await closedPort() },
      ]),
      { allowPrivate: true },
    )
    t.match(step, { kind: 'done', account: { native: jid } })
    t.same(asked, [], 'the web server of the domain is not asked for more')
  },
)

t.test('of thousands of servers only a few are looked for', async (t) => {
  const port = await closedPort()
  const places = Array.from({ length: 1_000 }, (_, n) => ({
    priority: n,
    host: `s${n}.test`,
    port,
  }))
  const { step, questions } = await linkBy(t, zoneWith(places), { allowPrivate: true })
  t.match(step, { kind: 'refused', reason: 'unreachable' })
  const hosts = new Set(questions.filter(({ kind }) => kind === 'A').map(({ name }) => name))
  t.same(hosts, new Set([...places.slice(0, 8).map(({ host }) => host), 'stub.test']))
})

t.test('a service that the domain does not offer is looked for nowhere', async (t) => {
  const [starttls, direct] = ['_xmpp-client._tcp.stub.test', '_xmpps-client._tcp.stub.test']
  const port = await closedPort()
  const none = { priority: 0, host: '', port: 0 }
  const elsewhere = { priority: 1, host: 'else.test', port }
  const cases: [Record<string, Place[]>, string[]][] = [
    [{ [starttls]: [none] }, []],
    [{ [starttls]: [none], [direct]: [none] }, []],
    [{ [starttls]: [none], [direct]: [elsewhere] }, ['else.test']],
    [{ [direct]: [none] }, ['stub.test']],
    [{ [starttls]: [none, elsewhere] }, ['else.test', 'stub.test']],
  ]
  for (const [places, hosts] of cases) {
    const zone: Zone = (name, kind) => ({
      addresses: kind === 'A' ? ['127.0.0.1'] : [],
      places: places[name] ?? [],
    })
    const { step, questions } = await linkBy(t, zone, { allowPrivate: true })
    t.match(step, { kind: 'refused', reason: 'unreachable' })
    const asked = questions.filter(({ kind }) => kind === 'A').map(({ name }) => name)
    t.same([...new Set(asked)], hosts, JSON.stringify(places))
  }
})

t.test('servers of one priority take turns by their weights', async (t) => {
  const weights = { 'none.test': 0, 'light.test': 1, 'heavy.test': 3 }
  const places = Object.entries(weights).map(([host, weight]) => {
    return { priority: 1, weight, host, port: 5222 }
  })
  const { address } = await nameServer(t, () => ({ addresses: [], places }))
  const resolve = placesResolver([address])
  const first = await Promise.all(Array.from({ length: 200 }, () => resolve(['_xmpp.test'])))
  const count = (host: string) => first.filter(([place]) => place?.host === host).length
  t.equal(count('none.test'), 0)
  t.ok(count('light.test') > 10, `${count('light.test')} of 200, 50 by the weights`)
  t.ok(count('heavy.test') > 100, `${count('heavy.test')} of 200, 150 by the weights`)
})

t.test('a server inside is not even dialled', async (t) => {
  const { port, visits } = await canary(t)
  const inside = [
    { priority: 1, host: 'inside.test', port },
    { priority: 2, host: '127.0.0.1', port },
  ]
  const named = [
    undefined,
    `xmpp://inside.test:${port}`,
    `xmpps://inside.test:${port}`,
    `xmpp://[::ffff:127.0.0.1]:${port}`,
  ]
  for (const server of named) {
    const asked = { allowPrivate: false, ...(server !== undefined && { server }) }
    const { step } = await linkBy(t, zoneWith(inside), asked)
    t.match(step, { kind: 'refused', reason: 'unreachable' }, server ?? 'found')
  }
  t.equal(visits(), 0)
})
