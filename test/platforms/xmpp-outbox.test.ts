/** Whom a message's way is believed to: its end, and the servers between. */
import { xml } from '@xmpp/client'
import t from 'tap'
import { hostsRooms, roomFacts } from '../../src/platforms/xmpp/discovery.ts'
import { BrokenWrite } from '../../src/platforms/xmpp/failures.ts'
import { Outbox } from '../../src/platforms/xmpp/outbox.ts'
import { RequestRefused, Requests } from '../../src/platforms/xmpp/requests.ts'
import { patience } from './contract/recorder.ts'

function posted() {
  const outbox = new Outbox({
    stream: { sendWhenUp: async () => undefined, acknowledges: true },
    requests: { ask: () => Promise.reject(new Error('nothing is asked')) },
    domain: 'here.test',
    confirmMilliseconds: 30_000,
  })
  const message = xml('message', { id: 'm', to: 'room@there.test', type: 'groupchat' })
  return { outbox, arrival: outbox.post(message, 'reflection', patience()) }
}

t.test('nobody else sends a message back', async (t) => {
  const { outbox, arrival } = posted()
  for (const from of ['stranger@there.test/x', 'room@elsewhere.test']) {
    t.equal(outbox.bounced('m', 'item-not-found', from), false)
  }
  outbox.found('m')
  await arrival
})

t.test('a message that is found to have arrived waits for no connection any more', async (t) => {
  const waiting = Promise.withResolvers<AbortSignal>()
  const outbox = new Outbox({
    stream: {
      sendWhenUp: (_, signal) => {
        waiting.resolve(signal)
        return new Promise(() => undefined)
      },
      acknowledges: true,
    },
    requests: { ask: () => Promise.reject(new Error('nothing is asked')) },
    domain: 'here.test',
    confirmMilliseconds: 30_000,
  })
  const message = xml('message', { id: 'm', to: 'ada@there.test', type: 'chat' })
  const arrival = outbox.post(message, 'acknowledgement', patience())
  const signal = await waiting.promise
  t.notOk(signal.aborted)
  outbox.found('m')
  await arrival
  t.ok(signal.aborted)
})

t.test('messages of one moment are written together, and none of the next before', async (t) => {
  const writing: { id: string; written: () => void }[] = []
  const outbox = new Outbox({
    stream: {
      sendWhenUp: ({ attrs: { id = '' } }) =>
        new Promise((resolve) => {
          writing.push({ id, written: resolve })
        }),
      acknowledges: true,
    },
    requests: { ask: () => Promise.reject(new Error('nothing is asked')) },
    domain: 'here.test',
    confirmMilliseconds: 30_000,
  })
  const post = (id: string) => outbox.post(xml('message', { id }), 'reflection', patience())
  const begun = () => writing.map(({ id }) => id)
  const arrivals = [post('1'), post('2')]
  await new Promise(setImmediate)
  arrivals.push(post('3'))
  await new Promise(setImmediate)
  t.same(begun(), ['1', '2'])
  writing[0]?.written()
  await new Promise(setImmediate)
  t.same(begun(), ['1', '2'], 'one of them may have to be written again')
  writing[1]?.written()
  await new Promise(setImmediate)
  t.same(begun(), ['1', '2', '3'])
  for (const id of begun()) outbox.found(id)
  await Promise.all(arrivals)
})

t.test('of many messages only so many are written together', async (t) => {
  const written: (() => void)[] = []
  const outbox = new Outbox({
    stream: {
      sendWhenUp: () => new Promise((resolve) => written.push(resolve)),
      acknowledges: true,
    },
    requests: { ask: () => Promise.reject(new Error('nothing is asked')) },
    domain: 'here.test',
    confirmMilliseconds: 30_000,
  })
  const ids = Array.from({ length: 60 }, (_, index) => `${index}`)
  const arrivals = ids.map((id) => outbox.post(xml('message', { id }), 'reflection', patience()))
  await new Promise(setImmediate)
  t.equal(written.length, 50, 'the node may lose its permit while they wait in the socket')
  for (const end of written) end()
  await new Promise(setImmediate)
  t.equal(written.length, 60)
  for (const id of ids) outbox.found(id)
  await Promise.all(arrivals)
})

t.test('of a write that broke only an archive may tell, and no later request', async (t) => {
  const asked: string[] = []
  const outbox = new Outbox({
    stream: {
      sendWhenUp: () => Promise.reject(new BrokenWrite('The connection broke')),
      acknowledges: false,
    },
    requests: {
      ask: async (type) => {
        asked.push(type)
        return xml('iq')
      },
    },
    domain: 'here.test',
    confirmMilliseconds: 30_000,
  })
  const post = (id: string) => {
    const message = xml('message', { id, to: 'ada@here.test', type: 'chat' })
    return outbox.post(message, 'acknowledgement', patience())
  }
  const found = post('found')
  const lost = post('lost').catch((cause: unknown) => cause)
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  t.same(outbox.open, [
    { id: 'found', to: 'ada@here.test', proof: 'acknowledgement' },
    { id: 'lost', to: 'ada@here.test', proof: 'acknowledgement' },
  ])
  outbox.found('found')
  outbox.abandon(outbox.open)
  t.equal(await found, undefined)
  t.match(await lost, { failure: { code: 'unavailable', certain: false } })
  t.same(asked, [])
})

t.test('whom it was for may refuse it, and so may servers', async (t) => {
  for (const from of ['room@there.test', 'room@there.test/nick', 'there.test', undefined]) {
    const { outbox, arrival } = posted()
    const refusal = arrival.catch((cause: unknown) => cause)
    t.equal(outbox.bounced('m', 'item-not-found', from), true)
    t.match(await refusal, { failure: { description: 'chat not found' } })
  }
})

/** An outbox whose requests are answered when the test says so, and whom it has asked. */
function asking() {
  const answered = Promise.withResolvers<never>()
  const asked: string[] = []
  const outbox = new Outbox({
    stream: { sendWhenUp: async () => undefined, acknowledges: true },
    requests: {
      ask: (_type, _payload, { to = '' }) => {
        asked.push(to)
        return answered.promise
      },
    },
    domain: 'here.test',
    confirmMilliseconds: 30_000,
  })
  const acknowledged = async (id: string, to: string) => {
    const message = xml('message', { id, to, type: 'chat' })
    const outcome = outbox.post(message, 'acknowledgement', patience()).catch((cause) => cause)
    await new Promise(setImmediate)
    outbox.acknowledged(id)
    return { outcome }
  }
  return { outbox, asked, answered, acknowledged }
}

t.test('a room may refuse a whisper that its server has acknowledged already', async (t) => {
  const { outbox, asked, answered, acknowledged } = asking()
  const { outcome } = await acknowledged('w', 'room@there.test/nobody')
  t.same(asked, ['room@there.test'])
  t.equal(outbox.bounced('w', 'item-not-found', 'room@there.test/nobody'), true)
  answered.reject(new Error('rooms answer no pings, but they answer'))
  t.match(await outcome, { failure: { description: 'chat not found' } })
})

t.test(
  'a server may refuse the first message to an address that it has acknowledged',
  async (t) => {
    const { outbox, asked, answered, acknowledged } = asking()
    const { outcome } = await acknowledged('nobody', 'nobody@here.test')
    const { outcome: arrival } = await acknowledged('ada', 'ada@here.test')
    t.same(asked, ['here.test', 'here.test'])
    t.equal(outbox.bounced('nobody', 'item-not-found', 'nobody@here.test'), true)
    answered.reject(new Error('it answers no pings, but it answers'))
    t.match(await outcome, { failure: { description: 'chat not found' } })
    t.equal(await arrival, undefined)
    t.equal(await (await acknowledged('again', 'ada@here.test')).outcome, undefined)
    t.equal(asked.length, 2, 'whom a message has reached is there')
    await acknowledged('nobody-again', 'nobody@here.test')
    t.equal(asked.length, 3)
  },
)

t.test('a server that cannot be reached now says nothing about the chat', async (t) => {
  for (const condition of ['remote-server-not-found', 'remote-server-timeout']) {
    const { outbox, arrival } = posted()
    const refusal = arrival.catch((cause: unknown) => cause)
    t.equal(outbox.bounced('m', condition, 'here.test'), true)
    t.match(await refusal, { failure: { code: 'unavailable', retryAfterSeconds: 30 } })
  }
})

t.test('a server that cannot be reached now is not one without rooms', async (t) => {
  const answering = (condition: string) =>
    Object.assign(new Requests('me@here.test', async () => undefined), {
      ask: () => Promise.reject(new RequestRefused(condition)),
    })
  for (const condition of ['remote-server-not-found', 'remote-server-timeout']) {
    const looking = roomFacts(answering(condition), 'room@there.test', patience())
    const away = { failure: { code: 'unavailable', retryAfterSeconds: 30 } }
    t.match(await looking.catch((cause) => cause), away)
    t.equal(await hostsRooms(answering(condition), 'there.test', patience()), undefined)
  }
  t.equal(await roomFacts(answering('item-not-found'), 'room@there.test', patience()), undefined)
  t.equal(await hostsRooms(answering('service-unavailable'), 'there.test', patience()), false)
})

/** To a server that acknowledges nothing, which is asked something after each message instead. */
function unacknowledged(ask: Requests['ask']) {
  const outbox = new Outbox({
    stream: { sendWhenUp: async () => undefined, acknowledges: false },
    requests: { ask },
    domain: 'here.test',
    confirmMilliseconds: 30_000,
  })
  const message = xml('message', { id: 'm', to: 'ada@here.test', type: 'chat' })
  return outbox.post(message, 'acknowledgement', patience())
}

t.test('a server that knows no pings answers them all the same', async (t) => {
  for (const condition of ['service-unavailable', 'feature-not-implemented', 'bad-request']) {
    const arrival = unacknowledged(() => Promise.reject(new RequestRefused(condition)))
    t.equal(await arrival, undefined, condition)
  }
})

t.test('a server that falls silent after a message may have it', async (t) => {
  const silence = new DOMException('The server says nothing', 'TimeoutError')
  const outcome = await unacknowledged(() => Promise.reject(silence)).catch((cause) => cause)
  t.match(outcome, { failure: { code: 'timeout', certain: false } })
  const gone = await unacknowledged(() => Promise.reject(new Error('gone'))).catch((cause) => cause)
  t.match(gone, { failure: { code: 'unavailable', certain: false } })
})
