/** Many messages are written together: where that breaks, or is acknowledged in the middle, each arrives once all the same. */
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { xml } from '@xmpp/client'
import t, { type Test } from 'tap'
import { Outbox } from '../../src/platforms/xmpp/outbox.ts'
import { AccountKey, SaltedKeys } from '../../src/platforms/xmpp/sasl/scram.ts'
import { Stream } from '../../src/platforms/xmpp/stream.ts'
import { until } from '../support/client.ts'
import { type Stub, startXmppStub } from '../support/xmpp-stub.ts'
import { patience } from './contract/recorder.ts'

/** Come in one piece with the beginning of the next one. */
const SMALL = 5
/** More than the system takes while the server does not read. */
const LARGE = 40
const ids = Array.from({ length: SMALL + LARGE }, (_, index) => `m${index}`)
const messages = () =>
  ids.map((id, index) => {
    const body = index < SMALL ? 'short' : 'x'.repeat(400_000)
    return xml('message', { id, to: 'eve@stub.test', type: 'chat' }, xml('body', {}, body))
  })
const idsIn = (text: string) => [...text.matchAll(/<message id="([^"]+)"/g)].map(([, id]) => id)

/** A server that stops reading once it has the first messages of a batch. */
async function stopsReading(t: Test, first: (socket: Socket) => void, stub: Partial<Stub> = {}) {
  const heard: string[] = []
  let isFirst = true
  const { server, stop } = await startXmppStub('ada@stub.test', {
    answer: () => undefined,
    hears(text, socket) {
      heard.push(text)
      if (isFirst && text.includes('<message')) {
        isFirst = false
        socket.pause()
        first(socket)
      }
      const count = new Set(idsIn(heard.join(''))).size
      if (text.includes('<r ')) socket.write(`<a xmlns="urn:xmpp:sm:3" h="${count}"/>`)
    },
    ...stub,
  })
  const events: string[] = []
  const acknowledged: string[] = []
  const stream = new Stream(
    {
      login: {
        local: 'ada',
        domain: 'stub.test',
        resource: 'test',
        password: 'secret',
        key: new AccountKey(new SaltedKeys()),
        service: server,
        plaintextAllowed: true,
        allowPrivate: true,
      },
      resumeMilliseconds: 20_000,
    },
    {
      bound: () => events.push('bound'),
      resumed: () => events.push('resumed'),
      stanza: () => undefined,
      acknowledged: (id) => acknowledged.push(id),
      ended: () => events.push('ended'),
    },
  )
  t.teardown(async () => {
    await stream.close()
    await stop()
  })
  await until(() => stream.acknowledges)
  const post = () => messages().map((message) => stream.sendWhenUp(message, patience()))
  return { stream, events, acknowledged, post, heard: () => heard.join('') }
}

/** Ends its side, and hangs up a moment later, with what it has not read. */
const hangUp = async (socket: Socket) => {
  socket.end()
  await delay(200)
  socket.destroy()
}

t.test('after a batch that broke, the resumption tells what has arrived', async (t) => {
  const first = Promise.withResolvers<void>()
  const before: string[] = []
  const { events, acknowledged, post, heard } = await stopsReading(
    t,
    (socket) => {
      before.push(heard())
      hangUp(socket).then(first.resolve, first.reject)
    },
    { resume: () => `<resumed xmlns="urn:xmpp:sm:3" previd="s" h="${SMALL}"/>` },
  )
  await Promise.all(post())
  await first.promise
  await until(() => acknowledged.length === ids.length)
  t.same(events, ['bound', 'resumed'])
  t.same(acknowledged, ids)
  const again = idsIn(heard().slice(before[0]?.length))
  t.same(again, ids.slice(SMALL), 'none of those that it had before comes again')
})

t.test('an acknowledgement may come in the middle of a batch', async (t) => {
  const stopped = Promise.withResolvers<Socket>()
  const { events, acknowledged, post, heard } = await stopsReading(t, (socket) => {
    socket.write(`<a xmlns="urn:xmpp:sm:3" h="${SMALL}"/>`)
    stopped.resolve(socket)
  })
  let isWritten = false
  const posted = Promise.all(post()).then(() => {
    isWritten = true
  })
  const socket = await stopped.promise
  await until(() => acknowledged.length === SMALL)
  t.equal(isWritten, false)
  socket.resume()
  await posted
  await until(() => acknowledged.length === ids.length)
  t.same(acknowledged, ids)
  t.same(idsIn(heard()), ids)
  t.same(events, ['bound'])
})

t.test(
  'where nothing can be resumed, nobody knows what became of a batch that broke',
  async (t) => {
    const { stream, events, heard } = await stopsReading(t, (socket) => void hangUp(socket), {
      spells: (text) => text.replace(' id="s" resume="true"', ''),
    })
    const outbox = new Outbox({
      stream,
      requests: { ask: () => Promise.reject(new Error('nothing is asked')) },
      domain: 'stub.test',
      confirmMilliseconds: 30_000,
    })
    const outcomes = messages().map((message) =>
      outbox.post(message, 'acknowledgement', patience()).then(
        () => t.fail('nothing is confirmed'),
        (cause: unknown) => t.match(cause, { failure: { code: 'unavailable', certain: false } }),
      ),
    )
    await until(() => events.length === 2)
    t.equal(outbox.open.length, ids.length)
    outbox.abandon(outbox.open)
    await Promise.all(outcomes)
    await until(() => stream.acknowledges)
    t.same(events, ['bound', 'bound'])
    t.ok(idsIn(heard()).length < ids.length)
  },
)
