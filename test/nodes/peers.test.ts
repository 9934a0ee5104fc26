/** Nodes of this version and of the one before speak with each other; others, and those without the key, do not. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createServer as createLineServer, type ServerHttp2Session } from 'node:http2'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { Pool } from 'undici'
import { usualLimits } from '../../src/http/server.ts'
import { listenForPeers, Peer, PROTOCOL } from '../../src/nodes/peers.ts'
import { until } from '../support/client.ts'
import { Relay } from '../support/relay.ts'
import { askPeer } from './ask-peer.ts'

const tls = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', maxVersion: 'TLSv1.2' } as const

const root = { method: 'GET', path: '/' } as const

async function answered(address: string, key: Buffer, protocol: number): Promise<number> {
  const peer = new Peer(address, key, protocol)
  try {
    return (await askPeer(peer.connections('short'), root)).statusCode
  } finally {
    peer.destroy()
  }
}

t.test(
  'whatever is asked of a peer that says nothing was not sent, and an end leaves no socket',
  async (t) => {
    const sockets: Socket[] = []
    const mute = createTcpServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket.on('error', () => undefined))
    }).listen(0, '127.0.0.1')
    await once(mute, 'listening')
    t.teardown(() => {
      for (const socket of sockets) socket.destroy()
      mute.close()
    })
    const { port } = mute.address() as AddressInfo
    // Only the process itself knows a socket that has ended its half. Other test files have sockets in it, too.
    const handles = Reflect.get(process, '_getActiveHandles') as () => { remotePort?: number }[]
    const open = () => handles().filter(({ remotePort }) => remotePort === port).length
    const peer = new Peer(`https://127.0.0.1:${port}`, randomBytes(32))
    const call = () => askPeer(peer.connections('short'), root)
    for (const count of [1_000, 1]) {
      const calls = await Promise.allSettled(Array.from({ length: count }, call))
      const codes = calls.map((one) => one.status === 'rejected' && one.reason.code)
      t.same(new Set(codes), new Set(['UND_ERR_CONNECT_TIMEOUT']), 'nothing of them was sent')
    }
    const again = call().catch(() => undefined)
    await until(() => open() === 1, 5_000)
    peer.destroy()
    await again
    t.ok(sockets.length >= 2)
    await until(() => open() === 0, 5_000)
  },
)

t.test('a peer is spoken to in the newest protocol that both know', async (t) => {
  const key = randomBytes(32)
  const server = await listenForPeers('https://127.0.0.1:0', key)
  t.teardown(() => server.close())
  server.serve((_, response) => response.end())
  for (const protocol of [PROTOCOL - 1, PROTOCOL, PROTOCOL + 1]) {
    t.equal(await answered(server.address, key, protocol), 200, `${protocol}`)
  }
  await t.rejects(answered(server.address, key, PROTOCOL - 2), 'of two versions before')
  await t.rejects(answered(server.address, randomBytes(32), PROTOCOL), 'of another service')
})

t.test('one of the version before offers HTTP/2 as well, and means HTTP/1', async (t) => {
  const key = randomBytes(32)
  const server = await listenForPeers('https://127.0.0.1:0', key)
  const before = new Pool(server.address, {
    connect: {
      ...tls,
      pskCallback: () => ({ psk: key, identity: 'chapar-node-1' }),
      checkServerIdentity: () => undefined,
    },
  })
  t.teardown(async () => {
    await before.destroy()
    await server.close()
  })
  server.serve(({ httpVersion }, response) => response.end(httpVersion))
  const { body } = await before.request({ method: 'GET', path: '/' })
  t.equal(await body.text(), '1.1')
  t.equal(before.stats.connected, 1)
})

t.test('what the public port takes is not too long between nodes', async (t) => {
  const key = randomBytes(32)
  const server = await listenForPeers('https://127.0.0.1:0', key)
  const peer = new Peer(server.address, key)
  t.teardown(async () => {
    peer.destroy()
    await server.close()
  })
  server.serve((_, response) => response.end())
  const { statusCode } = await askPeer(peer.connections('short'), {
    ...root,
    headers: { cookie: 'c'.repeat(usualLimits.maxHeaderSize), 'x-chapar-request': 'added' },
  })
  t.equal(statusCode, 200)
})

/** A peer that ends its lines politely: no version does it yet. */
async function politePeer(t: Test, key: Buffer) {
  const waiting: ServerResponse[] = []
  const sessions: ServerHttp2Session[] = []
  const requests = createServer((request, response) => {
    request.resume()
    waiting.push(response)
  })
  const lines = createLineServer()
    .on('session', (session) => sessions.push(session))
    .on('stream', (within) => {
      within.respond()
      requests.emit('connection', within)
    })
  const server = createTlsServer({ ...tls, pskCallback: () => key, ALPNProtocols: ['h2'] })
  server.on('secureConnection', (socket) => lines.emit('connection', socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const peer = new Peer(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, key)
  t.teardown(async () => {
    peer.destroy()
    server.close()
  })
  const poll = async () => (await askPeer(peer.connections('held'), root)).text
  return { waiting, sessions, poll }
}

t.test('a line that its peer ends keeps its calls, and takes no more', async (t) => {
  const { waiting, sessions, poll } = await politePeer(t, randomBytes(32))
  const held = poll()
  await until(() => waiting.length === 1)
  sessions[0]?.close()
  await pause(100)
  const next = poll()
  await until(() => waiting.length === 2)
  t.equal(sessions.length, 2)
  waiting[1]?.end('next')
  t.equal(await next, 'next')
  // A line is looked at once a second.
  await pause(1_100)
  waiting[0]?.end('held')
  t.equal(await held, 'held')
})

t.test('a line whose encryption breaks ends at once, with the calls on it', async (t) => {
  const key = randomBytes(32)
  const server = await listenForPeers('https://127.0.0.1:0', key)
  const relay = await Relay.start(() => Number(new URL(server.address).port))
  const peer = new Peer(`https://127.0.0.1:${relay.port}`, key)
  t.teardown(async () => {
    peer.destroy()
    await relay.stop()
    await server.close()
  })
  const waiting: ServerResponse[] = []
  server.serve((_, response) => void waiting.push(response))
  const ask = () => askPeer(peer.connections('held'), root)
  const error = ask().catch((cause: unknown) => cause)
  await until(() => waiting.length === 1)
  relay.breakEncryption()
  const cause = await Promise.race([error, pause(2_000, 'late', { ref: false })])
  t.match(cause, { code: /^ERR_SSL/ })
  // The line is left in the same turn, after its calls.
  await pause(0)
  const next = ask()
  await until(() => waiting.length === 2)
  waiting[1]?.end()
  const { statusCode } = await next
  t.equal(statusCode, 200)
})

t.test('a stop does not wait for a handshake', async (t) => {
  const server = await listenForPeers('https://127.0.0.1:0', randomBytes(32))
  const silent = connect(Number(new URL(server.address).port), '127.0.0.1')
  t.teardown(() => silent.destroy())
  silent.on('error', () => undefined)
  await once(silent, 'connect')
  await pause(50)
  const late = pause(2_000, 'late', { ref: false })
  t.equal(await Promise.race([server.close().then(() => 'closed'), late]), 'closed')
})
