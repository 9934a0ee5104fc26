/** The guard before a name server that lies: mixed answers, changing ones, aliases that lead inside, and silence. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { WebhookTarget } from '../../machines/webhook/terms.ts'
import { AddressRefused, createGuardedAgent, type GuardOptions } from '../../src/net/guard.ts'
import { publicResolver, systemResolver } from '../../src/net/resolver.ts'
import { checkReachable } from '../../src/webhooks/address.ts'
import { Endpoint } from '../../src/webhooks/endpoint.ts'
import { failureText } from '../../src/webhooks/exchange.ts'
import { endpointParts } from '../webhooks/parts.ts'
import { fetchBeginning } from './fetch-beginning.ts'
import { nameServer, type Zone } from './name-server.ts'

const canary = createServer((request, response) => {
  canaryHits.push(request.headers.host ?? '')
  response.end('inside')
}).listen(0, '::')
const canaryHits: string[] = []
await once(canary, 'listening')
const { port } = canary.address() as AddressInfo
t.teardown(() => {
  canary.closeAllConnections()
  canary.close()
})
t.beforeEach(() => {
  canaryHits.length = 0
})

const zoneOf =
  (entries: Record<string, ReturnType<Zone>>): Zone =>
  (name, kind) =>
    entries[`${name} ${kind}`] ?? { addresses: [] }

async function get(t: Test, host: string, options: GuardOptions): Promise<unknown> {
  const agent = createGuardedAgent({ connectTimeoutMs: 10_000, ...options })
  t.teardown(() => agent.destroy())
  const url = `http://${host}:${port}/`
  const asked = { agent, totalMs: 20_000, maxBytes: 100 }
  return await fetchBeginning(url, asked).catch((error: unknown) => error)
}

t.test('the resolver tells every address that the name server knows', async (t) => {
  const { address } = await nameServer(
    t,
    zoneOf({
      'both.test A': { addresses: ['8.8.8.8', '1.1.1.1'] },
      'both.test AAAA': { addresses: ['2606:4700::1111'] },
      'alias.test A': { alias: 'both.test', addresses: ['8.8.4.4'] },
    }),
  )
  const resolve = publicResolver([address])
  t.same(await resolve('both.test'), [
    { address: '8.8.8.8', family: 4 },
    { address: '1.1.1.1', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ])
  t.same(await resolve('alias.test'), [{ address: '8.8.4.4', family: 4 }])
  await t.rejects(resolve('nothing.test'), { message: 'the host name does not resolve' })
  const told = await resolve('nothing.test').catch(failureText)
  t.equal(told, 'Failed to resolve host: Name or service not known')
})

t.test('one answer that leads inside spoils all the others', async (t) => {
  const thousands = Array.from({ length: 2_000 }, (_, n) => `8.8.${n >> 8}.${n & 255}`)
  const { address } = await nameServer(
    t,
    zoneOf({
      'inside.test A': { addresses: ['127.0.0.1'] },
      'mixed.test A': { addresses: ['8.8.8.8', '127.0.0.1'] },
      'mixed-six.test A': { addresses: ['8.8.8.8'] },
      'mixed-six.test AAAA': { addresses: ['::1'] },
      'mapped.test AAAA': { addresses: ['::ffff:7f00:1'] },
      'metadata.test A': { addresses: ['169.254.169.254'] },
      'alias.test A': { alias: 'localhost', addresses: ['127.0.0.1'] },
      'many.test A': { addresses: [...thousands, '127.0.0.1'] },
    }),
  )
  const resolve = publicResolver([address])
  const names = ['inside', 'mixed', 'mixed-six', 'mapped', 'metadata', 'alias', 'many']
  for (const name of names) t.type(await get(t, `${name}.test`, { resolve }), AddressRefused, name)
  t.equal((await resolve('many.test')).length, thousands.length + 1, 'all of them were told')
  t.same(canaryHits, [])
})

t.test('a name that was public when it was set leads nobody inside later', async (t) => {
  let isPublic = true
  const { address, questions } = await nameServer(t, (_, kind) => ({
    addresses: kind === 'A' ? [isPublic ? '8.8.8.8' : '127.0.0.1'] : [],
  }))
  const resolve = publicResolver([address])
  const url = `http://rebind.test:${port}/`
  await checkReachable(new URL(url), undefined, { allowPrivate: false, resolve })
  isPublic = false
  const target: WebhookTarget = {
    url,
    ipAddress: undefined,
    maxConnections: 1,
    secretToken: undefined,
    certificate: undefined,
  }
  const guard = { allowPrivate: false, resolve }
  const key = { apiKeyId: 5, userId: 1, credentialId: 2, epoch: 1 }
  const sender = new Endpoint(key, target, endpointParts(t, { guard, timeoutMs: 20_000 }))
  t.teardown(() => sender.close())
  for (let attempt = 1; attempt <= 2; attempt++) {
    const sent = await sender.deliver({ updateId: 9, body: '{}' }, new AbortController().signal)
    t.match(sent, { status: undefined, error: 'IP address is reserved' })
    t.ok(questions.filter(({ kind }) => kind === 'A').length > attempt, 'it asks each time')
  }
  await t.rejects(checkReachable(new URL(url), undefined, { allowPrivate: false, resolve }), {
    message: /reserved/,
  })
  t.same(canaryHits, [])
})

t.test('what was resolved is what is dialled, without another question', async (t) => {
  let asked = 0
  // The second answer leads nowhere.
  const { address } = await nameServer(t, (_, kind) => ({
    addresses: kind === 'A' ? [asked++ === 0 ? '127.0.0.1' : '192.0.2.1'] : [],
  }))
  const resolve = publicResolver([address])
  t.match(await get(t, 'here.test', { resolve, allowPrivate: true }), { status: 200 })
  t.same(canaryHits, [`here.test:${port}`])
})

t.test('a name server that is silent is not waited for long', async (t) => {
  const { address } = await nameServer(t, () => undefined)
  const began = performance.now()
  const error = await get(t, 'silent.test', { resolve: publicResolver([address]) })
  t.type(error, Error)
  t.ok(performance.now() - began < 9_000, `${performance.now() - began} ms`)
  t.same(canaryHits, [])
})

t.test('names whose servers are silent leave the lookups of the system to others', async (t) => {
  const { address } = await nameServer(t, (name, kind) => {
    if (name.startsWith('dead')) return undefined
    if (name === 'half.test') return kind === 'A' ? { addresses: ['8.8.8.8'] } : undefined
    return { addresses: [] }
  })
  const looked: string[] = []
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  // As the system's: it waits far longer for a silent server than for any other.
  const system = async (name: string) => {
    looked.push(name)
    if (name.startsWith('dead')) await isOver
    return [{ address: '127.0.0.1', family: 4 }]
  }
  const resolve = systemResolver(system, [address])
  const names = Array.from({ length: 20 }, (_, count) => `dead${count}.test`)
  const dead = names.map((name) => resolve(name))
  const outcomes = Promise.allSettled(dead)
  // Of this machine: the servers know it not, and the system does.
  const here = [{ address: '127.0.0.1', family: 4 }]
  t.same(await resolve('hosts.test'), here)
  t.same(await resolve('localhost'), here)
  t.same(await resolve('half.test'), [{ address: '8.8.8.8', family: 4 }])
  t.same(looked.slice(0, 2), ['hosts.test', 'localhost'])
  const refused = await Promise.race(dead.map((each) => each.catch(failureText)))
  t.equal(refused, 'Failed to resolve host: Name or service not known')
  t.equal(looked.length, 3, 'one of the dead')
  end()
  t.equal((await outcomes).filter(({ status }) => status === 'fulfilled').length, 1)
  // The next one may.
  t.same(await resolve('dead.test'), here)
})
