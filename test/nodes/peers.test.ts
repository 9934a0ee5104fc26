/** Nodes of this version and of the one before speak with each other; others, and those without the key, do not. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { Pool } from 'undici'
import { usualLimits } from '../../src/http/server.ts'
import { listenForPeers, Peer, PROTOCOL } from '../../src/nodes/peers.ts'

async function answered(address: string, key: Buffer, protocol: number): Promise<number> {
  const peer = new Peer(address, key, protocol)
  try {
    const { statusCode, body } = await peer.pool('short').request({ method: 'GET', path: '/' })
    await body.dump()
    return statusCode
  } finally {
    await peer.destroy()
  }
}

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
      ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
      maxVersion: 'TLSv1.2',
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
    await peer.destroy()
    await server.close()
  })
  server.serve((_, response) => response.end())
  const { statusCode, body } = await peer.pool('short').request({
    method: 'GET',
    path: '/',
    headers: { cookie: 'c'.repeat(usualLimits.maxHeaderSize), 'x-chapar-request': 'added' },
  })
  await body.dump()
  t.equal(statusCode, 200)
})
