/** Servers that do what none should: the account ends in good order, and nobody else's memory or time does. */
import t, { type Test } from 'tap'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import { quietLog } from '../support/log.ts'
import { type Question, type Stub, startXmppStub } from '../support/xmpp-stub.ts'
import { run, Store } from './contract/recorder.ts'
import { Files } from './xmpp/files.ts'

const jid = 'me@stub.test'

async function opened(t: Test, stub: Stub) {
  const { server, stop } = await startXmppStub(jid, stub)
  t.teardown(stop)
  const platform = xmppPlatform({ log: quietLog, allowPrivate: true, media: new Files() })
  const secrets = { jid, password: 'x', resource: 'test', server }
  const store = new Store({ identity: { native: jid, firstName: 'me' }, secrets })
  store.checkpoint = { mam: 'before', at: 1 }
  const session = run(platform, store)
  t.teardown(() => session.stop())
  return session
}

const archived = (query: string, id: string, text: string) =>
  `<message><result xmlns="urn:xmpp:mam:2" queryid="${query}" id="${id}">
  <forwarded xmlns="urn:xmpp:forward:0"><delay xmlns="urn:xmpp:delay" stamp="2026-01-01T12:00:00Z"/>
  <message xmlns="jabber:client" type="chat" from="friend@stub.test/x" id="m-${id}">
  <body>${text}</body></message></forwarded></result></message>`
const complete = (id: string, value = 'true') =>
  `<iq type="result" id="${id}"><fin xmlns="urn:xmpp:mam:2" complete="${value}"/></iq>`
const refused = (id: string, condition: string) =>
  `<iq type="error" id="${id}"><error type="cancel">
  <${condition} xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/></error></iq>`
const queryOf = ({ text }: Question) => /queryid="([^"]+)"/.exec(text)?.[1]

t.test('an archive that repeats itself for ever is left alone', async (t) => {
  let repeats = 0
  const session = await opened(t, {
    answer(question) {
      const query = queryOf(question)
      if (query === undefined) return undefined
      repeats += 1
      return archived(query, 'same', 'again') + complete(question.id, 'false')
    },
    present: (write) =>
      write(`<message type="chat" id="live" from="friend@stub.test/x"><body>live</body></message>`),
  })
  await session.store.message('live')
  t.ok(repeats < 10, `asked ${repeats} times`)
  t.strictSame(session.store.texts(), ['again', 'live'])
})

t.test('an archive of huge messages is read in smaller pages', async (t) => {
  const sizes: number[] = []
  const huge = `huge${'<i/>'.repeat(2_700)}`
  const session = await opened(t, {
    answer(question) {
      const query = queryOf(question)
      if (query === undefined) return undefined
      const most = Number(/<max>(\d+)</.exec(question.text)?.[1])
      const after = Number(/<after>(\d+)</.exec(question.text)?.[1] ?? 0)
      if (most > 1) sizes.push(most)
      const count = Math.min(most, 70 - after)
      const messages = Array.from({ length: count }, (_, index) =>
        archived(query, `${after + index + 1}`, huge),
      )
      return messages.join('') + complete(question.id, `${after + count >= 70}`)
    },
  })
  await session.store.until(() => (session.store.texts().length === 70 ? true : undefined))
  t.strictSame(sizes.slice(0, 3), [250, 32, 32])
  t.notOk(session.reports.some(([report]) => report === 'lost'))
})

t.test('an archive that is away for a moment is asked again', async (t) => {
  let refusals = 0
  const session = await opened(t, {
    answer(question) {
      const query = queryOf(question)
      if (query === undefined) return undefined
      if (refusals++ === 0) return refused(question.id, 'service-unavailable')
      return archived(query, 'missed', 'missed') + complete(question.id)
    },
  })
  t.match(await session.store.message('missed'), { recovered: true })
})

t.test('an archive that fails is not taken for none', async (t) => {
  const session = await opened(t, {
    answer: (question) =>
      queryOf(question) === undefined ? undefined : refused(question.id, 'internal-server-error'),
  })
  await session.reported('lost')
  t.notOk(session.reports.some(([report]) => report === 'opened'))
})

t.test('a server that has no archive is one', async (t) => {
  const session = await opened(t, {
    answer: (question) =>
      queryOf(question) === undefined ? undefined : refused(question.id, 'feature-not-implemented'),
    present: (write) =>
      write(`<message type="chat" id="live" from="friend@stub.test/x"><body>live</body></message>`),
  })
  await session.store.message('live')
})

t.test('what is kept for those who were away is not told of again', async (t) => {
  const kept = (stamp: string, text: string) => `<message type="chat" id="k-${text}"
    from="friend@stub.test/x"><body>${text}</body>
    <stanza-id xmlns="urn:xmpp:sid:0" by="${jid}" id="${text}"/>
    <delay xmlns="urn:xmpp:delay" from="stub.test" stamp="${stamp}"/></message>`
  const session = await opened(t, {
    answer(question) {
      const query = queryOf(question)
      if (query === undefined) return undefined
      return archived(query, 'newest', 'newest') + complete(question.id)
    },
    present(write) {
      write(kept('2025-12-01T12:00:00Z', 'of-last-month'))
      write(kept('2026-01-01T12:00:05Z', 'repeated-after-a-cut'))
    },
  })
  await session.store.message('repeated-after-a-cut')
  t.strictSame(session.store.texts(), ['newest', 'repeated-after-a-cut'])
})

t.test('a stanza without an end ends the session', async (t) => {
  let written = 0
  const session = await opened(t, {
    answer: (question) => (queryOf(question) === undefined ? undefined : complete(question.id)),
    present(write) {
      write('<message from="me@stub.test"><body>')
      const more = setInterval(() => {
        written += 2 ** 16
        write('x'.repeat(2 ** 16))
      }, 1)
      t.teardown(() => clearInterval(more))
    },
  })
  t.strictSame(await session.reported('lost'), ['oversized_stanza', undefined])
  t.ok(written > 2 ** 20, 'what is merely large is not refused')
})

t.test('a stream that breaks each time is not taken up at once each time', async (t) => {
  const enough = Promise.withResolvers<void>()
  let began = 0
  let streams = 0
  await opened(t, {
    answer: (question) => (queryOf(question) === undefined ? undefined : complete(question.id)),
    present(write) {
      streams += 1
      if (streams === 1) began = performance.now()
      if (streams === 6) enough.resolve()
      else write('<message><body></message>')
    },
  })
  await enough.promise
  // The pauses double from a tenth of a second on; however slow the machine is, they are no shorter.
  t.ok(performance.now() - began > 3_000)
})
