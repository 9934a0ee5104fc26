/** The server is told to forget a stanza only when it is dealt with, and all before it are. */
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { mock } from 'node:test'
import { type Client, type Element, xml } from '@xmpp/client'
import t from 'tap'
import type { WritePermit } from '../../actors/ports/platform.ts'
import {
  Acknowledgements,
  countSent,
  pastLibrary,
  writtenTogether,
} from '../../src/platforms/xmpp/acknowledgements.ts'
import { BrokenWrite, conditionOf } from '../../src/platforms/xmpp/failures.ts'
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
    begins: (name: string) => {
      streamManagement.enabled = false
      comes(name, ns.streamManagement)
    },
    handled: () => streamManagement.inbound,
    acknowledgements,
  }
}

/** Answers and questions leave at the end of the moment in which stanzas are handled or sent. */
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

t.test('a server that asks in the moment in which the stream begins is answered', (t) => {
  for (const name of ['enabled', 'resumed']) {
    const { message, begins, ask, sent } = stage()
    begins(name)
    message()()
    ask()
    t.strictSame(
      sent.map((answer) => `${answer}`),
      [`<a xmlns="${ns.streamManagement}" h="1"/>`],
      'the library knows of the stream a moment later, and ejabberd asks no second time',
    )
  }
  t.end()
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

/** A client whose writes end when the test says so. */
function sending(isPermitted = true) {
  const heard: string[] = []
  const texts: string[] = []
  const ends: PromiseWithResolvers<void>[] = []
  const queue: { stanza: Element; stamp: string }[] = []
  const begun = { enabled: false, enableSent: false, id: '', outbound: 0, outbound_q: queue }
  const streamManagement = Object.assign(new EventEmitter(), begun)
  const client = Object.assign(new EventEmitter(), { streamManagement, status: 'online' })
  client.on('element', ({ name }: Element) => heard.push(name))
  const typed = client as unknown as Client
  pastLibrary(typed)
  const permission = Promise.withResolvers<void>()
  const state = { isWritable: true, isValid: isPermitted }
  countSent(typed, {
    write(text) {
      texts.push(text)
      const end = Promise.withResolvers<void>()
      ends.push(end)
      return end.promise
    },
    isWritable: () => state.isWritable,
    unreadBytes: () => 0,
    permit: {
      get isValid() {
        return state.isValid
      },
      valid: () => permission.promise,
    } as WritePermit,
  })
  const sent = () => texts.map((text) => /^<(\w+)/.exec(text)?.[1])
  return { client: typed, heard, sent, ends, queue, streamManagement, state, permission }
}

const message = (id: string) => xml('message', { id })

t.test('nothing of the login stays after it, and who asks is answered all the same', (t) => {
  using _clock = stopped()
  const { client, heard, sent, queue, streamManagement } = sending()
  streamManagement.enabled = true
  const acknowledged: string[] = []
  streamManagement.on('ack', ({ attrs }: Element) => acknowledged.push(attrs.id ?? ''))
  client.emit('online')
  client.emit('element', xml('iq', { type: 'result' }))
  t.same(heard, [], 'the library')
  t.equal((client as { middleware?: unknown }).middleware, undefined)
  const ask = (type: string, ...asked: Element[]) =>
    client.emit('element', xml('iq', { type, id: '1', from: 'ada@there.test' }, ...asked))
  const ping = xml('ping', ns.ping)
  ask('get', ping)
  ask('set', ping)
  ask('get', ping, ping)
  t.same(sent(), ['iq', 'iq', 'iq'])
  const answers = queue.map(({ stanza }) => stanza)
  t.match(answers, [{ attrs: { type: 'result', id: /^1$/, to: 'ada@there.test' } }, {}, {}])
  const conditions = answers.slice(1).map((answer) => conditionOf(answer))
  t.same(conditions, ['service-unavailable', 'bad-request'])
  ask('set', xml('query', {}, "'".repeat(40_000)))
  t.ok(queue.slice(3).every(({ stanza }) => `${stanza}`.length < 1_000))
  client.emit('element', xml('iq', { type: 'get', id: "'".repeat(1_025) }, ping))
  t.equal(queue.length, 4, 'whoever names a request at such a length gets no answer')
  queue.splice(0, 4, ...['a', 'b'].map((id) => ({ stanza: message(id), stamp: '' })))
  client.emit('element', xml('a', { xmlns: ns.streamManagement, h: 1 }))
  t.same(acknowledged, ['a'])
  client.emit('element', xml('a', { xmlns: ns.streamManagement, h: 9 }))
  t.same(acknowledged, ['a', 'b'], 'more than was sent is not acknowledged')
  t.equal(streamManagement.outbound, 2)
  t.end()
})

t.test('whoever asks before the library is done gets the same short answer', (t) => {
  using _clock = stopped()
  const { client, heard, queue, streamManagement } = sending()
  streamManagement.enabled = true
  const asked = xml('query', {}, "'".repeat(40_000))
  client.emit('element', xml('iq', { type: 'set', id: '1', from: 'ada@there.test' }, asked))
  t.same(heard, [], 'the library would send all of it back')
  t.match(queue, [{ stanza: { attrs: { type: 'error' } } }])
  client.emit('online')
  client.emit('element', xml('iq', { type: 'set', id: '2', from: 'ada@there.test' }, asked))
  t.ok(queue.every(({ stanza }) => `${stanza}`.length < 1_000))
  t.equal(queue.length, 2, 'each is answered once')
  t.end()
})

t.test('the server is asked once for a burst, and the library gets what is its own', async (t) => {
  const { client, heard, sent, queue, streamManagement } = sending()
  for (const name of ['message', 'presence', 'a', 'r']) client.emit('element', xml(name))
  client.emit('element', xml('iq', { type: 'result' }))
  t.same(heard, ['a', 'iq'])

  client.send(message('early'))
  t.same(queue, [], 'nobody acknowledges it')
  client.send(xml('enable', { xmlns: ns.streamManagement }))
  t.ok(streamManagement.enableSent)
  streamManagement.enabled = true
  for (const id of ['1', '2']) client.send(message(id))
  client.send(xml('r', { xmlns: ns.streamManagement }))
  t.match(queue, [{ stanza: { attrs: { id: /^1$/ } } }, { stanza: { attrs: { id: /^2$/ } } }])
  t.match(queue[0]?.stamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const before = ['message', 'enable', 'message', 'message', 'r']
  t.same(sent(), before)
  await answered()
  t.strictSame(sent(), [...before, 'r'])
})

t.test('what is sent before an answer shares the next question, which is not late', async (t) => {
  using clock = stopped()
  const { client, sent, streamManagement } = sending()
  streamManagement.enabled = true
  const answer = () => client.emit('element', xml('a', { xmlns: ns.streamManagement, h: 0 }))
  client.send(message('1'))
  await answered()
  client.send(message('2'))
  await answered()
  client.send(message('3'))
  await answered()
  const begun = ['message', 'r', 'message', 'message']
  t.strictSame(sent(), begun)
  answer()
  t.strictSame(sent(), [...begun, 'r'])
  client.send(message('4'))
  await answered()
  clock.tick(19)
  t.strictSame(sent(), [...begun, 'r', 'message'])
  clock.tick(1)
  t.strictSame(sent(), [...begun, 'r', 'message', 'r'], 'the server is far away')
  answer()
  clock.tick(60)
  t.equal(sent().length, 7, 'all is asked for')
  client.send(xml('iq'))
  await answered()
  t.strictSame(sent().slice(7), ['iq', 'r'])
})

t.test('messages of one moment leave in one write with the question for them', async (t) => {
  const written: string[][] = []
  const socket = new Writable({
    decodeStrings: false,
    writev(chunks, callback) {
      written.push(chunks.map(({ chunk }) => /^<\w+/.exec(`${chunk}`)?.[0] ?? ''))
      callback()
    },
  })
  const streamManagement = { enabled: true, id: 's', outbound_q: [] }
  const parts = { streamManagement, status: 'online' }
  const client = Object.assign(new EventEmitter(), parts) as unknown as Client
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      socket.write(text, (cause) => (cause ? reject(cause) : resolve()))
    })
  const together = writtenTogether(write, () => socket as unknown as Socket)
  const outlet = { write: together, isWritable: () => true, unreadBytes: () => 0 }
  countSent(client, { ...outlet, permit: undefined })
  await Promise.all([client.send(message('1')), client.send(message('2'))])
  t.strictSame(written, [['<message', '<message', '<r']])
})

t.test('a stanza counts from the moment in which it is written, and not before', async (t) => {
  const { client, ends, queue, streamManagement, state, permission } = sending(false)
  Object.assign(streamManagement, { enabled: true, id: 's' })
  const sent = client.send(message('m'))
  t.same(queue, [], 'the node is in doubt')
  state.isValid = true
  permission.resolve()
  await new Promise(setImmediate)
  t.equal(queue.length, 1)
  ends[0]?.reject(new BrokenWrite('EPIPE'))
  t.equal(await sent, undefined, 'the resumption tells what has arrived')
  t.equal(queue.length, 1)

  const refused = client.send(message('refused'))
  t.equal(queue.length, 2)
  ends.at(-1)?.reject(new Error('EPIPE'))
  await t.rejects(refused, { message: 'EPIPE' })
  t.match(queue, [{ stanza: { attrs: { id: 'm' } } }], 'the system has taken nothing of it')

  state.isWritable = false
  await t.rejects(client.send(message('late')), { name: 'Error' })
  t.equal(queue.length, 1, 'nothing of it was written')
})

t.test('nothing tells whether a broken write has arrived where nothing is resumed', async (t) => {
  const { client, ends, streamManagement } = sending()
  for (const enabled of [true, false]) {
    Object.assign(streamManagement, { enabled, id: enabled ? '' : 's' })
    const sent = client.send(message('m'))
    ends.at(-1)?.reject(new BrokenWrite('EPIPE'))
    await t.rejects(sent, { name: 'BrokenWrite' })
  }
})

t.test('a write that the system refuses at once was not begun', async (t) => {
  const written: string[][] = []
  const writing = (refuses: (callback: (cause: Error) => void) => void) => {
    const socket = new Writable({
      decodeStrings: false,
      writev(chunks, callback) {
        written.push(chunks.map(({ chunk }) => `${chunk}`))
        refuses(callback)
      },
    })
    socket.on('error', () => undefined)
    const write = (text: string) =>
      new Promise<void>((resolve, reject) => {
        socket.write(text, (cause) => (cause ? reject(cause) : resolve()))
      })
    const together = writtenTogether(write, () => socket as unknown as Socket)
    return { socket, both: ['1', '2'].map((text) => together(text)) }
  }
  const late = writing((callback) => setImmediate(callback, new Error('EPIPE')))
  for (const end of late.both) await t.rejects(end, { name: 'BrokenWrite' })
  const immediate = writing((callback) => callback(new Error('EPIPE')))
  for (const end of immediate.both) await t.rejects(end, { name: 'Error', message: 'EPIPE' })
  t.same(written, [
    ['1', '2'],
    ['1', '2'],
  ])
  const destroyed = writing(() => t.fail('nothing is written'))
  destroyed.socket.destroy()
  for (const end of destroyed.both) await t.rejects(end, { code: 'ERR_STREAM_DESTROYED' })
})

t.test('what is sent again stays in the queue if the connection breaks meanwhile', async (t) => {
  const { client, ends, queue, streamManagement } = sending()
  Object.assign(streamManagement, { enabled: true, id: 's' })
  const sent = client.sendMany([message('1'), message('2')])
  t.match(queue, [{ stanza: { attrs: { id: /^1$/ } } }, { stanza: { attrs: { id: /^2$/ } } }])
  for (const end of ends) end.reject(new BrokenWrite('EPIPE'))
  await sent
  t.equal(queue.length, 2)
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
