/** Linking an XMPP account: what is refused at once, what the server refuses, and where a password may travel. */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t from 'tap'
import { nameOf, parseAddress, parseServer } from '../../src/platforms/xmpp/address.ts'
import { endingOf } from '../../src/platforms/xmpp/endings.ts'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import { AccountKey, SaltedKeys } from '../../src/platforms/xmpp/sasl/scram.ts'
import { Stream } from '../../src/platforms/xmpp/stream.ts'
import { quietLogger } from '../support/logger.ts'
import { patience } from './contract/recorder.ts'
import { refusalOf } from './contract/scene.ts'
import { Files } from './xmpp/files.ts'
import { MemoryRooms } from './xmpp/kept-rooms.ts'
import { Network } from './xmpp/network.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const fields = { jid: 'ada@xmpp.test', password: 'x' }

t.test('addresses are read as the network writes them', async (t) => {
  t.match(parseAddress('Ada@Example.org/Desk'), {
    local: 'ada',
    domain: 'example.org',
    resource: 'Desk',
    bare: 'ada@example.org',
  })
  t.match(parseAddress('example.org'), { local: undefined, bare: 'example.org' })
  t.match(parseAddress('سارا@نمونه.ایران'), { local: 'سارا' })
  // Of scripts whose letters have marks, with joiners, and as hosts are called without the DNS.
  for (const domain of [
    'उदाहरण.परीक्षा',
    'ตัวอย่าง.ไทย',
    'خانه\u200cها.ایران',
    'my_host',
    'i❤.test',
  ]) {
    t.match(parseAddress(`ada@${domain}/desk`), { domain, bare: `ada@${domain}` }, domain)
  }
  for (const text of [
    '',
    '@x',
    'a@',
    'a b@x',
    'a@x..y',
    'a@-x',
    'a@x/',
    'a"b@x',
    'a@b@c',
    'a@b+c',
    'a@x,y',
  ]) {
    t.equal(parseAddress(text), undefined, text)
  }
})

t.test('a name is shown with the signs that stand for others in an address', async (t) => {
  t.equal(nameOf('d\\27artagnan\\20x@x.test'), "d'artagnan x")
  // Only ten signs may: a name that has the others by chance stays as it is.
  t.equal(nameOf('c\\00\\41@x.test'), 'c\\00\\41')
})

t.test('servers are named by scheme, host and port', async (t) => {
  t.strictSame(parseServer('xmpps://example.org:5223'), {
    service: 'xmpps://example.org:5223',
    loopback: false,
  })
  t.match(parseServer('xmpp://127.0.0.1:5222'), { loopback: true })
  t.match(parseServer('xmpp://[::1]:5222'), { loopback: true })
  for (const text of ['example.org', 'http://example.org', 'xmpp://a:b@x', 'xmpp://x/path']) {
    t.equal(parseServer(text), undefined, text)
  }
})

t.test('the end of a connection has a reason that lasts', async (t) => {
  const because = (code: string) => endingOf(Object.assign(new Error('x'), { code }))
  for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', '']) {
    t.strictSame(because(code), { kind: 'lost', reason: 'network' }, code)
  }
  for (const code of [
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_GET_ISSUER_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ]) {
    t.strictSame(because(code), { kind: 'lost', reason: 'bad_certificate' }, code)
  }
})

t.test('fields that cannot be right are refused without a connection', async (t) => {
  const platform = xmppPlatform({
    logger: quietLogger,
    allowPrivate: false,
    media: new Files(),
    rooms: new MemoryRooms(),
  })
  const refusal = (more: object, method = 'password') =>
    refusalOf(platform.startLink(method, { ...fields, ...more }, patience()))
  t.match(await refusal({ jid: 'nobody' }), {
    code: 'bad_request',
    description: /^field "jid" must be an address such as name@example.org$/,
  })
  t.match(await refusal({ password: '' }), {
    code: 'bad_request',
    description: /^field "password" is required$/,
  })
  t.match(await refusal({ server: 'http://x' }), {
    code: 'bad_request',
    description: /^field "server" must be an address such as xmpps:\/\/host:5223$/,
  })
  t.match(await refusal({}, 'phone'), { code: 'bad_request' })
  t.match(
    await refusal({ server: 'xmpp://127.0.0.1:5222' }),
    {
      code: 'bad_request',
      description: /^field "server" must be an address such as xmpps:\/\/host:5223$/,
    },
    'this machine is nobody else’s business',
  )
})

t.test('a server that does not answer is told as unreachable', async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address?.port
  const platform = xmppPlatform({
    logger: quietLogger,
    allowPrivate: true,
    media: new Files(),
    rooms: new MemoryRooms(),
  })
  const there = { ...fields, server: `xmpp://127.0.0.1:${port}` }
  const { step } = await platform.startLink('password', there, patience())
  t.match(step, { kind: 'refused', reason: 'unreachable', retryAfterSeconds: Number })
})

t.test('over a real server', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

  await t.test('a wrong password is refused by the server', async (t) => {
    const account = await network.account()
    const wrong = { ...account.fields, password: 'wrong' }
    const { step } = await network.platform().startLink('password', wrong, patience())
    t.match(step, { kind: 'refused', reason: 'bad_credentials' })
  })

  await t.test('a password does not travel unencrypted beyond this machine', async (t) => {
    const account = await network.account()
    const ended = Promise.withResolvers<unknown>()
    const login = {
      local: account.user,
      domain: network.server.domain,
      resource: 'test',
      password: account.password,
      service: account.fields.server!,
      plaintextAllowed: false,
      allowPrivate: true,
      key: new AccountKey(new SaltedKeys()),
    }
    const ignore = () => undefined
    const events = { bound: ignore, resumed: ignore, stanza: ignore, acknowledged: ignore }
    const stream = new Stream(
      { login, resumeMilliseconds: 0 },
      { ...events, ended: (cause) => ended.resolve(cause) },
    )
    t.teardown(() => stream.close())
    t.strictSame(endingOf(await ended.promise), { kind: 'lost', reason: 'no_encryption' })
  })

  await t.test('a server on a private address gets not one byte', async (t) => {
    const { promise: ended, resolve } = Promise.withResolvers<unknown>()
    let received = 0
    const server = createServer((socket) => {
      socket.on('data', (chunk) => {
        received += chunk.length
      })
      socket.on('error', () => undefined)
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const login = {
      local: 'ada',
      domain: 'example.org',
      resource: 'test',
      password: 'secret',
      service: `xmpp://127.0.0.1:${port}`,
      plaintextAllowed: true,
      allowPrivate: false,
      key: new AccountKey(new SaltedKeys()),
    }
    const ignore = () => undefined
    const events = { bound: ignore, resumed: ignore, stanza: ignore, acknowledged: ignore }
    const stream = new Stream({ login, resumeMilliseconds: 0 }, { ...events, ended: resolve })
    t.teardown(() => stream.close())
    t.match(endingOf(await ended), { kind: 'lost' })
    t.equal(received, 0)
  })
})
