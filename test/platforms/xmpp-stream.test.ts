/** The life of one login: a cut is followed by short pauses first, and a stream of another process goes on where that one was. */
import { mock } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { xml } from '@xmpp/client'
import t, { type Test } from 'tap'
import { conditionOf } from '../../src/platforms/xmpp/failures.ts'
import { AccountKey, SaltedKeys } from '../../src/platforms/xmpp/sasl/scram.ts'
import { Stream } from '../../src/platforms/xmpp/stream.ts'
import type { Login, Resumption } from '../../src/platforms/xmpp/transport.ts'
import { opensslMissing, selfSigned } from '../support/certificate.ts'
import { until } from '../support/client.ts'
import { farewell, type Stub, startXmppStub } from '../support/xmpp-stub.ts'

const loginAt = (service: string): Login => ({
  local: 'ada',
  domain: 'stub.test',
  resource: 'test',
  password: 'secret',
  key: new AccountKey(new SaltedKeys()),
  service,
  plaintextAllowed: true,
  allowPrivate: true,
})

t.test('a stream that three tries did not bring back comes back with the fourth', async (t) => {
  let refusals = 0
  const { server, stop } = await startXmppStub('ada@stub.test', {
    refuse() {
      if (refusals === 0) return undefined
      refusals--
      return farewell('internal-server-error')
    },
    answer: () => undefined,
    present: (_, cut) => {
      if (seen.length > 1) return
      refusals = 3
      cut()
    },
  })
  const seen: string[] = []
  // The pauses are 100, 200, 400 and 800 ms; with the longest from the second try on, the fourth would come after six.
  const stream = new Stream(
    { login: loginAt(server), resumeMilliseconds: 5_000 },
    {
      bound() {
        seen.push('bound')
        stream.send(xml('presence')).catch(t.threw)
      },
      resumed: () => seen.push('resumed'),
      stanza: () => undefined,
      acknowledged: () => undefined,
      ended: (cause) => seen.push(`ended: ${cause}`),
    },
  )
  t.teardown(async () => {
    await stream.close()
    await stop()
  })
  await until(() => seen.length === 2)
  t.same(seen, ['bound', 'bound'])
  t.equal(refusals, 0)
})

const left: Resumption = {
  id: 'left',
  outbound: 3,
  outbound_q: [],
  received: 7,
  isRenamed: false,
  isInherited: true,
}

/** A server that has the stream of another process, and how a stream came about that went on with that. */
async function goesOn(t: Test, stub: Partial<Stub>, inherited: Resumption) {
  const heard: string[] = []
  const { server, stop } = await startXmppStub('ada@stub.test', {
    answer: () => undefined,
    hears: (text) => heard.push(text),
    ...stub,
  })
  const seen: string[] = []
  const stream = new Stream(
    { login: loginAt(server), resumeMilliseconds: 0, inherited: async () => inherited },
    {
      bound: () => seen.push('bound'),
      resumed: () => seen.push('resumed'),
      stanza: ({ name, attrs }) => {
        seen.push(`${name} ${attrs.id}`)
        return undefined
      },
      acknowledged: (id) => seen.push(`${id} was there`),
      ended: (cause) => seen.push(`ended: ${cause}`),
    },
  )
  t.teardown(async () => {
    await stream.close()
    await stop()
  })
  return { stream, seen, asked: () => heard.join('') }
}

const resumed = (h: number, more = '') =>
  `<resumed xmlns="urn:xmpp:sm:3" previd="left" h="${h}"/>${more}`

t.test(
  'a stream of another process goes on with its counters, and says what was lost',
  async (t) => {
    const outbound_q = ['first', 'second'].map((id) => {
      return { stanza: xml('message', { id, to: 'eve@stub.test' }), stamp: '2026-01-01T00:00:00Z' }
    })
    const message = '<message xmlns="jabber:client" id="new" from="eve@stub.test"/>'
    const stub = { resume: () => resumed(4, message) }
    const { stream, seen, asked } = await goesOn(t, stub, { ...left, outbound_q })
    await until(() => seen.includes('message new') && asked().includes('<message'))
    t.same(seen, ['first was there', 'resumed', 'message new'])
    t.match(asked(), /<resume [^>]*h="7"[^>]*previd="left"|<resume [^>]*previd="left"[^>]*h="7"/)
    t.match(asked(), /<message id="second"/)
    t.notMatch(asked(), /<message id="first"|<bind/)

    t.ok(await stream.leave())
    t.notMatch(asked(), /stream:stream>$/)
    t.match(stream.inheritance, { id: 'left', received: 8, outbound: 4, outbound_q: [{}] })
    await t.rejects(stream.send(xml('presence')), { name: 'StreamDown' })
    t.notOk(await stream.leave(), 'once')
  },
)

/**
 * Stops the clock of a stream once it is up and may be asked: that it has an id to go on with says neither. Returns what sets how
 * long it has been up.
 */
async function clockOf(t: Test, stream: Stream, seen: readonly string[]) {
  await until(() => seen.includes('bound') && stream.acknowledges)
  const now = performance.now()
  let later = 0
  const { mock: clock } = mock.method(performance, 'now', () => now + later)
  t.teardown(() => clock.restore())
  return (milliseconds: number) => {
    later = milliseconds
  }
}

t.test('who is quiet for long is asked, and who answers nothing is left', async (t) => {
  const { stream, seen, asked } = await goesOn(t, {}, left)
  const pass = await clockOf(t, stream, seen)
  const questions = () => asked().match(/<r xmlns="urn:xmpp:sm:3"\/>/g)?.length ?? 0
  pass(61_000)
  stream.look()
  await pause(100)
  t.equal(questions(), 0, 'the account is probed once a minute')
  pass(64_000)
  stream.look()
  // The stream looks by itself, too.
  await until(() => questions() > 0)
  t.notOk(seen.some((event) => event.startsWith('ended')))
  pass(85_000)
  stream.look()
  await until(() => seen.some((event) => event.startsWith('ended')))
})

t.test('who owes an acknowledgement in silence is left sooner', async (t) => {
  const { stream, seen, asked } = await goesOn(t, {}, left)
  const pass = await clockOf(t, stream, seen)
  pass(60_000)
  const hasEnded = () => seen.some((event) => event.startsWith('ended'))
  await stream.send(xml('message', { id: 'lost', to: 'eve@stub.test' }))
  await until(() => asked().includes('lost'))
  stream.look()
  pass(65_000)
  stream.look()
  await pause(100)
  t.notOk(hasEnded(), 'it was asked five seconds ago')
  // The stream looks by itself, too: the answer must come before its time is over.
  pass(68_000)
  await stream.send(xml('iq', { id: 'answered', type: 'get' }, xml('ping', 'urn:xmpp:ping')))
  await until(() => seen.includes('iq answered'))
  pass(71_000)
  stream.look()
  await pause(100)
  t.notOk(hasEnded(), 'who speaks is there')
  pass(82_000)
  stream.look()
  await until(hasEnded)
})

t.test('one that the server does not have is followed by a login under the own name', async (t) => {
  const { seen, asked } = await goesOn(t, {}, left)
  await until(() => seen.includes('bound'))
  t.match(asked(), /<resource>test<\/resource>/)
})

t.test('it goes on where the server wants it to', { skip: opensslMissing ?? false }, async (t) => {
  const { key, cert } = selfSigned('stub.test')
  const usual = getCACertificates('default')
  setDefaultCACertificates([...usual, cert])
  t.teardown(() => setDefaultCACertificates(usual))
  for (const isEncrypted of [true, false]) {
    const heard: string[] = []
    const near = await startXmppStub('ada@stub.test', {
      answer: () => undefined,
      hears: (text) => heard.push(text),
      resume: () => resumed(3),
      ...(isEncrypted && { tls: { scheme: 'xmpp', key, cert } }),
    })
    t.teardown(near.stop)
    const location = near.server.replace('xmpp://', '')
    const stub = { resume: () => resumed(3) }
    const { seen, asked } = await goesOn(t, stub, { ...left, location })
    await until(() => seen.includes('resumed'))
    t.notMatch(isEncrypted ? asked() : heard.join(''), /<auth|<resume/)
    t.match(isEncrypted ? heard.join('') : asked(), /<resume /)
  }
})

t.test('what stands between stanzas is not kept', async (t) => {
  const { server, stop } = await startXmppStub('ada@stub.test', {
    answer: () => undefined,
    present(write) {
      for (let count = 0; count < 20; count++) {
        write(`${' '.repeat(10)}<message id="${count}"/>${'x'.repeat(10)}`)
      }
    },
  })
  const kept: unknown[] = []
  const stream = new Stream(
    { login: loginAt(server), resumeMilliseconds: 0 },
    {
      bound: () => void stream.send(xml('presence')).catch(t.threw),
      resumed: () => undefined,
      stanza(stanza) {
        if (stanza.is('message')) kept.push(Reflect.get(stanza, 'parent').children.length)
        return undefined
      },
      acknowledged: () => undefined,
      ended: () => undefined,
    },
  )
  t.teardown(async () => {
    await stream.close()
    await stop()
  })
  await until(() => kept.length === 20)
  t.strictSame(new Set(kept), new Set([0]))
})

/** As servers write that go by namespaces alone, such as those that Python's ElementTree writes for. */
const withPrefixes = (text: string) =>
  text
    .replace(/<(success|enabled|r) xmlns="([^"]*)"/g, '<p:$1 xmlns:p="$2"')
    .replace(/<(iq|message|presence)\b/g, '<c:$1 xmlns:c="jabber:client"')
    .replace(/<\/(iq|message|presence)>/g, '</c:$1>')
    .replace(/<(\/?)body>/g, '<$1c:body>')

t.test('stanzas are stanzas whatever prefix they have', async (t) => {
  const asked: string[] = []
  const { server, stop } = await startXmppStub('ada@stub.test', {
    answer: () => undefined,
    spells: withPrefixes,
    hears: (text) => asked.push(text),
    present: (write) =>
      write(
        '<message id="1"><body>hello</body></message><r xmlns="urn:xmpp:sm:3"/><r xmlns="urn:xmpp:sm:3"/>',
      ),
  })
  const bodies: (string | null)[] = []
  const stream = new Stream(
    { login: loginAt(server), resumeMilliseconds: 0 },
    {
      bound: () => void stream.send(xml('presence')).catch(t.threw),
      resumed: () => undefined,
      stanza(stanza) {
        if (stanza.is('message')) bodies.push(stanza.getChildText('body'))
        return undefined
      },
      acknowledged: () => undefined,
      ended: () => undefined,
    },
  )
  t.teardown(async () => {
    await stream.close()
    await stop()
  })
  await until(() => /<a [^>]*h="1"/.test(asked.join('')))
  t.strictSame(bodies, ['hello'])
})

t.test('the name of an error is read whatever prefix it has', (t) => {
  const named = 'urn:ietf:params:xml:ns:xmpp-stanzas'
  const condition = xml('e:item-not-found', { 'xmlns:e': named })
  t.equal(conditionOf(xml('iq', {}, xml('error', {}, condition))), 'item-not-found')
  t.end()
})
