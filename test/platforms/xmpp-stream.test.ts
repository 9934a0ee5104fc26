/** The life of one login: a cut is followed by short pauses first, so that a short outage stays short. */
import { xml } from '@xmpp/client'
import t from 'tap'
import { AccountKey, SaltedKeys } from '../../src/platforms/xmpp/sasl/scram.ts'
import { Stream } from '../../src/platforms/xmpp/stream.ts'
import { until } from '../support/client.ts'
import { farewell, startXmppStub } from '../support/xmpp-stub.ts'

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
  const login = {
    local: 'ada',
    domain: 'stub.test',
    resource: 'test',
    password: 'secret',
    key: new AccountKey(new SaltedKeys()),
    service: server,
    plaintextAllowed: true,
    allowPrivate: true,
  }
  // The pauses are 100, 200, 400 and 800 ms; with the longest from the second try on, the fourth would come after six.
  const stream = new Stream(
    { login, resumeMilliseconds: 5_000 },
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
