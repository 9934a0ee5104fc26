/** Servers that do what none should: the account ends in good order, and nobody else's memory or time does. */
import t, { type Test } from 'tap'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import { quietLog } from '../support/log.ts'
import { type Stub, startXmppStub } from '../support/xmpp-stub.ts'
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

t.test('a stanza without an end ends the session', async (t) => {
  let written = 0
  const session = await opened(t, {
    answer: ({ id, text }) =>
      text.includes('urn:xmpp:mam:2')
        ? `<iq type="result" id="${id}"><fin xmlns="urn:xmpp:mam:2" complete="true"/></iq>`
        : undefined,
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
