/** A server that asks without end, and acknowledges or reads nothing, or talks before the login, keeps no memory. */
import { EventEmitter } from 'node:events'
import { type Client, type Element, xml } from '@xmpp/client'
import t, { type Test } from 'tap'
import {
  Acknowledgements,
  countSent,
  pastLibrary,
} from '../../src/platforms/xmpp/acknowledgements.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import { AccountKey, SaltedKeys } from '../../src/platforms/xmpp/sasl/scram.ts'
import { Stream } from '../../src/platforms/xmpp/stream.ts'
import type { Login } from '../../src/platforms/xmpp/transport.ts'
import { until } from '../support/client.ts'
import { startXmppStub } from '../support/xmpp-stub.ts'

const loginAt = (service: string): Login => ({
  ...{ local: 'ada', domain: 'stub.test', resource: 'test', password: 'secret' },
  ...{ service, plaintextAllowed: true, allowPrivate: true },
  key: new AccountKey(new SaltedKeys()),
})

const streamManagement = `xmlns="${ns.streamManagement}"`
const question = (id: string) =>
  `<iq type="get" from="stub.test" id="${id}"><query xmlns="jabber:iq:version"/></iq>`

t.test('of what a server does not acknowledge so much is kept, and the rest waits', async (t) => {
  const questions = Array.from({ length: 3_000 }, (_, count) => question(`q${count}`))
  let said = ''
  let say: (text: string) => void = () => t.fail('nobody is there')
  const { server, stop } = await startXmppStub('ada@stub.test', {
    answer: () => undefined,
    hears: (text) => {
      said += text
    },
    present(write) {
      say = write
      write(`${questions.join('')}<r ${streamManagement}/>`)
    },
  })
  const stream = new Stream(
    { login: loginAt(server), resumeMilliseconds: 0 },
    {
      bound: () => void stream.send(xml('presence')).catch(t.threw),
      resumed: () => undefined,
      stanza: () => undefined,
      acknowledged: () => undefined,
      ended: () => undefined,
    },
  )
  t.teardown(async () => {
    await stream.close()
    await stop()
  })
  const answers = () => said.split('service-unavailable').length - 1
  await until(() => said.includes('h="3000"'))
  t.ok([999, 1_000].includes(answers()), `${answers()}; the presence may be one of them`)
  await t.rejects(stream.send(xml('message', { id: 'early' })))
  const sent = stream.sendWhenUp(xml('message', { id: 'own' }), AbortSignal.timeout(30_000))
  say(`<a ${streamManagement} h="1000"/>`)
  await sent
  say(question('again'))
  await until(() => said.includes('id="again"'))
  t.ok(said.includes('id="own"'))
  t.notOk(said.includes('id="early"'))
})

/** A server that says this in place of a greeting; resolves with how that ends, and what the client has said. */
async function instead(t: Test, refusal: string) {
  const ended = Promise.withResolvers<unknown>()
  let said = ''
  const { server, stop } = await startXmppStub('ada@stub.test', {
    answer: () => undefined,
    refuse: () => refusal,
    hears: (text) => {
      said += text
    },
  })
  const stream = new Stream(
    { login: loginAt(server), resumeMilliseconds: 0 },
    {
      bound: () => t.fail('there is no login'),
      resumed: () => undefined,
      stanza: () => undefined,
      acknowledged: () => undefined,
      ended: (cause) => ended.resolve(cause),
    },
  )
  t.teardown(async () => {
    await stream.close()
    await stop()
  })
  return { cause: await ended.promise, said: () => said }
}

t.test('what comes before the login is not kept without end', async (t) => {
  const megabyte = `<message><body>${'x'.repeat(2 ** 20)}</body></message>`
  t.match((await instead(t, megabyte.repeat(40))).cause, { name: 'Oversized' })
})

t.test('a login that is offered again and again is begun a few times', async (t) => {
  const mechanisms = '<mechanism>PLAIN</mechanism>'
  const offer = `<stream:features><mechanisms xmlns="urn:ietf:params:xml:ns:xmpp-sasl">${mechanisms}</mechanisms></stream:features>`
  const { cause, said } = await instead(t, offer.repeat(50))
  t.match(cause, { message: 'The server begins the login without end' })
  t.ok(said().split('<auth').length <= 6)
})

/** A client whose connection holds so many bytes that the other side has not read. */
function slow(unread: { bytes: number }) {
  const sent: Element[] = []
  const management = { enabled: false, id: '', outbound: 0, outbound_q: [], inbound: 0 }
  const parts = {
    status: 'online',
    streamManagement: Object.assign(new EventEmitter(), management),
  }
  const client = Object.assign(new EventEmitter(), parts) as unknown as Client
  pastLibrary(client)
  countSent(client, {
    write: async () => undefined,
    isWritable: () => true,
    unreadBytes: () => unread.bytes,
    permit: undefined,
  })
  const { send } = client
  client.send = async (stanza) => {
    await send(stanza)
    sent.push(stanza)
  }
  return { client, sent }
}

t.test('who does not read gets no answers until there is room', async (t) => {
  const unread = { bytes: 32 * 2 ** 20 + 1 }
  const { client, sent } = slow(unread)
  const ask = () => client.emit('element', xml('iq', { type: 'get', id: '1', from: 'a@b.test' }))
  ask()
  await t.rejects(client.send(xml('message')), { message: 'The server takes nothing' })
  t.same(sent, [])
  await client.send(xml('r', ns.streamManagement))
  t.match(sent, [{ name: 'r' }], 'what makes room goes out')
  unread.bytes = 32 * 2 ** 20
  ask()
  await new Promise(setImmediate)
  t.match(sent, [{ name: 'r' }, { name: 'iq' }])
})

t.test(
  'while an acknowledgement is not written no other one is, and then the newest',
  async (t) => {
    const written: PromiseWithResolvers<void>[] = []
    const numbers: number[] = []
    const client = Object.assign(new EventEmitter(), {
      streamManagement: Object.assign(new EventEmitter(), { enabled: true, inbound: 0 }),
      send({ attrs }: Element) {
        numbers.push(Number(attrs.h))
        const end = Promise.withResolvers<void>()
        written.push(end)
        return end.promise
      },
    }) as unknown as Client
    const acknowledgements = new Acknowledgements(client, 0)
    const ask = () => client.emit('element', xml('r', ns.streamManagement))
    for (let count = 0; count < 100; count++) {
      client.emit('element', xml('message'))
      acknowledgements.expect()()
      ask()
    }
    t.strictSame(numbers, [1])
    written[0]?.resolve()
    await new Promise(setImmediate)
    t.strictSame(numbers, [1, 100])
    written[1]?.reject(new Error('EPIPE'))
    await new Promise(setImmediate)
    t.strictSame(numbers, [1, 100])
    ask()
    t.strictSame(numbers, [1, 100, 100])
  },
)
