/** Encrypted connections: whose certificate has to be shown, and what somebody who links is told of a wrong one. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t, { type Test } from 'tap'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import { opensslMissing, selfSigned } from '../support/certificate.ts'
import { quietLogger } from '../support/logger.ts'
import { farewell, type Stub, startXmppStub } from '../support/xmpp-stub.ts'
import { patience } from './contract/recorder.ts'
import { Files } from './xmpp/files.ts'
import { MemoryRooms } from './xmpp/kept-rooms.ts'

const jid = 'ada@stub.test'

/** How a link to a server ends that behaves so. */
async function linkTo(t: Test, stub: Partial<Stub>, more: { readonly server?: string } = {}) {
  const { server, stop } = await startXmppStub(jid, { answer: () => undefined, ...stub })
  t.teardown(stop)
  const platform = xmppPlatform({
    logger: quietLogger,
    allowPrivate: true,
    media: new Files(),
    rooms: new MemoryRooms(),
  })
  const fields = { jid, password: 'x', server: more.server ?? server }
  return (await platform.startLink('password', fields, patience())).step
}

t.test('certificates', { skip: opensslMissing ?? false }, async (t) => {
  const own = selfSigned('stub.test')
  const others = selfSigned('elsewhere.test')

  for (const scheme of ['xmpp', 'xmpps'] as const) {
    await t.test(`${scheme}: one that nobody else signed is named as that`, async (t) => {
      const step = await linkTo(t, { tls: { scheme, ...own } })
      t.match(step, {
        kind: 'refused',
        reason: 'bad_certificate',
        description:
          /^the certificate of the server is signed by itself; whoever runs this service can have it trusted with NODE_EXTRA_CA_CERTS$/,
      })
      t.notOk('retryAfterSeconds' in step, 'to try again would not help')
    })
  }

  await t.test('that of the domain is taken, wherever its server was found', async (t) => {
    const usual = getCACertificates('default')
    setDefaultCACertificates([...usual, own.cert, others.cert])
    t.teardown(() => setDefaultCACertificates(usual))
    for (const scheme of ['xmpp', 'xmpps'] as const) {
      t.match(await linkTo(t, { tls: { scheme, ...own } }), { kind: 'done' }, scheme)
      t.match(
        await linkTo(t, { tls: { scheme, ...others } }),
        {
          reason: 'bad_certificate',
          description: /^the certificate of the server is not for the domain of the JID$/,
        },
        scheme,
      )
    }
  })
})

t.test('a port of another kind of encryption is named as that', async (t) => {
  const { server, stop } = await startXmppStub(jid, { answer: () => undefined })
  t.teardown(stop)
  const step = await linkTo(t, {}, { server: server.replace('xmpp:', 'xmpps:') })
  t.match(step, {
    kind: 'refused',
    reason: 'tls_failed',
    description:
      /^no encrypted connection came about; an address that begins with xmpps:\/\/ needs a port of TLS, others xmpp:\/\/$/,
  })
})

t.test('what a server says to somebody who links', async (t) => {
  const said: readonly (readonly [string, string | undefined, object])[] = [
    ['host-unknown', undefined, { reason: 'domain_gone' }],
    ['see-other-host', 'x', { reason: 'server_moved' }],
    ['policy-violation', 'Too many', { reason: 'policy_violation', retryAfterSeconds: 300 }],
    ['system-shutdown', undefined, { reason: 'unreachable', retryAfterSeconds: 30 }],
  ]
  for (const [condition, text, refusal] of said) {
    const step = await linkTo(t, { refuse: () => farewell(condition, text) })
    t.match(step, { kind: 'refused', ...refusal }, condition)
  }
})
