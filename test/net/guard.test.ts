/** The guard at the moment of connecting: notations, mixed and changing answers, and a canary that must not be hit. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openUrl } from '../../src/net/fetch.ts'
import { AddressRefused, createGuardedAgent, type GuardOptions } from '../../src/net/guard.ts'
import type { Resolve } from '../../src/net/resolver.ts'
import { until } from '../support/client.ts'
import { fetchBeginning } from './fetch-beginning.ts'

let hits = 0
const canary = createServer((_, response) => {
  hits++
  response.end('inside')
}).listen(0, '::')
await once(canary, 'listening')
const { port } = canary.address() as AddressInfo
t.teardown(() => canary.close())
t.beforeEach(() => {
  hits = 0
})

const never: Resolve = async (hostname) => {
  throw new Error(`${hostname} was looked up`)
}

async function get(url: string, options: GuardOptions): Promise<unknown> {
  const agent = createGuardedAgent({ connectTimeoutMs: 2_000, ...options })
  try {
    const { body } = await fetchBeginning(url, { agent, totalMs: 5_000, maxBytes: 1_000 })
    return body.toString()
  } catch (error) {
    return error
  } finally {
    await agent.destroy()
  }
}

/** Each names this machine, its network or nothing public at all. */
const literals = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1'],
  ...['017700000001', '0x7f.1', '0177.1', '127.0.0.1.', '0', '0.0.0.0', '00000000', '0x0'],
  ...['１２７.０.０.１', '127。0。0。1', '127．0．0．1', '①②⑦.⓪.⓪.①', '%31%32%37.0.0.1'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::127.0.0.1]', '[::7f00:1]', '[::ffff:127.0.0.1]'],
  ...['[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::ffff:0:127.0.0.1]', '[::ffff:8.8.8.8]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
  ...['[2001:0:7f00:1::]', '[2001:db8::1]', '[3fff::1]', '[5f00::1]', '[100::1]', '[fc00::1]'],
  ...['[fd00:ec2::254]', '[fe80::1]', '[fec0::1]', '[ff02::1]', '10.0.0.1', '172.16.0.1'],
  ...['192.168.0.1', '100.64.0.1', '169.254.169.254', '0xa9fea9fe', '2852039166', '192.0.0.8'],
  ...['198.18.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1', '224.0.0.1'],
  ...['240.0.0.1', '255.255.255.255'],
]

t.test('an address that is not public is refused in every notation', async (t) => {
  for (const host of literals) {
    const error = await get(`http://${host}:${port}/`, { resolve: never })
    t.type(error, AddressRefused, host)
  }
  t.equal(hits, 0, 'nothing was connected to')
})

const answering =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

t.test('a name that leads inside is refused, also when only one of its answers does', async (t) => {
  const answers = [
    ['127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['2606:4700::1111', 'fd00::1'],
    ['0x7f000001'],
    [],
    [...Array<string>(10_000).fill('8.8.8.8'), '127.0.0.1'],
  ]
  for (const addresses of answers) {
    const resolve = answering(...addresses)
    const error = await get(`http://evil.test:${port}/`, { resolve })
    t.type(error, AddressRefused, addresses.slice(0, 3).join(', '))
  }
  t.equal(hits, 0, 'nothing was connected to')
})

t.test('a name is looked up once a connection, and that answer is dialled', async (t) => {
  let asked = 0
  const rebinding: Resolve = async () => {
    asked++
    return [{ address: asked === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }]
  }
  // The first answer would be allowed here and leads nowhere: who asks twice reaches the canary.
  const error = await get(`http://rebind.test:${port}/`, {
    resolve: rebinding,
    allowPrivate: true,
    connectTimeoutMs: 300,
  })
  t.type(error, Error)
  t.equal(asked, 1)
  t.equal(hits, 0)
})

t.test('the name is looked up again for every connection', async (t) => {
  let asked = 0
  const resolve: Resolve = async () => {
    asked++
    return [{ address: '127.0.0.1', family: 4 }]
  }
  const agent = createGuardedAgent({ allowPrivate: true, resolve })
  t.teardown(() => agent.destroy())
  const once = { agent, totalMs: 2_000, maxBytes: 10, headers: { connection: 'close' } }
  await fetchBeginning(`http://turn.test:${port}/`, once)
  await fetchBeginning(`http://turn.test:${port}/`, once)
  t.equal(asked, 2)
})

t.test('a host whose answer was cut off leaves nothing behind', async (t) => {
  const endless = createServer((_, response) => response.writeHead(404).write('.')).listen(0)
  await once(endless, 'listening')
  t.teardown(() => endless.close())
  const { port } = endless.address() as AddressInfo
  const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const agent = createGuardedAgent({ allowPrivate: true, resolve })
  t.teardown(() => agent.destroy())
  for (let n = 0; n < 20; n++) {
    const { body } = await openUrl(`http://host${n}.test:${port}/`, { agent, totalMs: 5_000 })
    body.on('error', () => undefined).destroy()
  }
  t.ok(await until(() => Object.keys(agent.stats).length === 0))
})

t.test('where private addresses are allowed they are reached, by name and by number', async (t) => {
  for (const host of ['localhost', '127.0.0.1', '[::1]', '2130706433']) {
    t.equal(await get(`http://${host}:${port}/`, { allowPrivate: true }), 'inside', host)
  }
})

t.test('a pinned address is dialled in place of the name, and checked', async (t) => {
  const pinned = { resolve: never, pinnedAddress: '127.0.0.1' }
  t.type(await get(`http://pinned.test:${port}/`, pinned), AddressRefused)
  const allowed = { ...pinned, allowPrivate: true }
  t.equal(await get(`http://pinned.test:${port}/`, allowed), 'inside')
})

t.test('a proxy in the environment is not used', async (t) => {
  process.env.HTTP_PROXY = `http://127.0.0.1:${port}`
  process.env.http_proxy = process.env.HTTP_PROXY
  t.teardown(() => {
    delete process.env.HTTP_PROXY
    delete process.env.http_proxy
  })
  t.type(await get('http://10.0.0.1/', { resolve: never }), AddressRefused)
  t.equal(hits, 0)
})

t.test('a refusal says the same whether or not anything listens there', async (t) => {
  const open = (await get(`http://127.0.0.1:${port}/`, { resolve: never })) as Error
  const shut = (await get('http://127.0.0.1:1/', { resolve: never })) as Error
  t.equal(open.message, shut.message)
})
