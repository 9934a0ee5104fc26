/** The server is told to forget a stanza only when it is dealt with, and all before it are. */
import { EventEmitter } from 'node:events'
import { mock } from 'node:test'
import { type Client, type Element, xml } from '@xmpp/client'
import t from 'tap'
import { Acknowledgements, pastLibrary } from '../../src/platforms/xmpp/acknowledgements.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'

function stage(resumed = 0) {
  const sent: Element[] = []
  const streamManagement = Object.assign(new EventEmitter(), { enabled: true, inbound: 0 })
  const client = Object.assign(new EventEmitter(), {
    streamManagement,
    send: async (element: Element) => void sent.push(element),
  })
  const acknowledgements = new Acknowledgements(client as unknown as Client, resumed)
  const comes = (name: string, xmlns?: string) => {
    client.emit('element', xml(name, xmlns && { xmlns }))
    return acknowledgements.expect()
  }
  return {
    sent,
    message: () => comes('message'),
    ask: () => comes('r', ns.streamManagement),
    enabled: () => comes('enabled', ns.streamManagement),
    handled: () => streamManagement.inbound,
    acknowledgements,
  }
}

/** Answers leave at the end of the moment in which stanzas are handled. */
const answered = () => new Promise(process.nextTick)

/** Timers go by this clock. The process has other tests, so nothing may be awaited meanwhile. */
function stopped() {
  mock.timers.enable({ apis: ['setTimeout'] })
  return {
    tick: (milliseconds: number) => mock.timers.tick(milliseconds),
    [Symbol.dispose]: () => mock.timers.reset(),
  }
}

t.test('stanzas are acknowledged in their order, each once it is stored', async (t) => {
  const { message, handled, acknowledgements } = stage()
  const [first, second, third] = [message(), message(), message()]
  t.equal(acknowledgements.received, 3)
  t.equal(handled(), 0)
  second()
  t.equal(handled(), 0)
  first()
  t.equal(handled(), 2)
  third()
  third()
  t.equal(handled(), 3)
})

t.test(
  'what another process may go on from is known once nothing waits amid the handled',
  async (t) => {
    const { message, acknowledgements } = stage(4)
    t.equal(acknowledgements.handled, 4)
    const [first, second] = [message(), message()]
    t.equal(acknowledgements.handled, 4, 'neither is handled, so both come again')
    second()
    t.equal(acknowledgements.handled, undefined)
    first()
    t.equal(acknowledgements.handled, 6)
  },
)

t.test('a server that asked too early is answered when all is stored', async (t) => {
  const { message, ask, sent } = stage()
  const [first, second] = [message(), message()]
  ask()
  first()
  await answered()
  t.equal(sent.length, 0)
  second()
  await answered()
  t.match(sent, [{ name: 'a', attrs: { h: 2 } }])
  message()()
  await answered()
  t.equal(sent.length, 1, 'it has not asked again')
})

t.test('in a flood a server is answered when what it asked for is stored', async (t) => {
  const { message, ask, sent } = stage()
  const first = message()
  ask()
  const others = [message(), message()]
  ask()
  message()
  first()
  others[0]?.()
  await answered()
  t.match(sent, [{ name: 'a', attrs: { h: 2 } }], 'once for all that are stored in one moment')
  t.equal(sent.length, 1)
  others[1]?.()
  await answered()
  t.match(sent[1], { name: 'a', attrs: { h: 3 } })
  t.equal(sent.length, 2)
})

t.test('a server that asks is answered soon, also while something waits', async (t) => {
  const { message, ask, sent } = stage()
  message()()
  const second = message()
  {
    using clock = stopped()
    ask()
    clock.tick(999)
    t.same(sent, [])
    clock.tick(1)
    t.match(sent, [{ name: 'a', attrs: { h: 1 } }])
  }
  second()
  await answered()
  t.match(sent, [{ attrs: { h: 1 } }, { name: 'a', attrs: { h: 2 } }])
  ask()
  t.equal(sent.length, 3, 'all is handled, so there is nothing to wait for')
})

t.test('the server is asked once for a burst, and the library gets what is its own', async (t) => {
  using clock = stopped()
  const sent: string[] = []
  const heard: string[] = []
  const queue: { stanza: Element; stamp: string }[] = []
  const streamManagement = { enabled: false, enableSent: false, outbound_q: queue }
  const client = Object.assign(new EventEmitter(), {
    streamManagement,
    send: async ({ name }: Element) => void sent.push(name),
  })
  client.on('element', ({ name }: Element) => heard.push(name))
  client.on('send', () => t.fail('the library would count it, too'))
  pastLibrary(client as unknown as Client)
  for (const name of ['message', 'presence', 'iq', 'a', 'r']) client.emit('element', xml(name))
  t.same(heard, ['iq', 'a'])

  client.emit('send', xml('message', { id: 'early' }))
  t.same(queue, [], 'nobody acknowledges it')
  client.emit('send', xml('enable', { xmlns: ns.streamManagement }))
  t.ok(streamManagement.enableSent)
  streamManagement.enabled = true
  for (const id of ['1', '2']) client.emit('send', xml('message', { id }))
  client.emit('send', xml('r', { xmlns: ns.streamManagement }))
  t.match(queue, [{ stanza: { attrs: { id: '1' } } }, { stanza: { attrs: { id: '2' } } }])
  t.match(queue[0]?.stamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  clock.tick(1)
  t.same(sent, ['r'])
  client.emit('send', xml('iq'))
  clock.tick(1)
  t.same(sent, ['r', 'r'])
})

t.test('a new stream counts anew, and a resumed one goes on', async (t) => {
  const { message, enabled, handled } = stage(7)
  t.equal(handled(), 7)
  const before = message()
  enabled()
  before()
  t.equal(handled(), 0)
  message()()
  t.equal(handled(), 1)
})
