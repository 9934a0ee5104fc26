/** How the network ends a session: each cause has its own state and reason, and what may pass is tried again slowly. */
import t from 'tap'
import { explained } from '../../src/credentials/reasons.ts'
import { endingOf } from '../../src/platforms/xmpp/endings.ts'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import { quietLogger } from '../support/logger.ts'
import { farewell, startXmppStub } from '../support/xmpp-stub.ts'
import { run, Store } from './contract/recorder.ts'
import { linked } from './contract/scene.ts'
import { Files } from './xmpp/files.ts'
import { MemoryRooms } from './xmpp/kept-rooms.ts'

const jid = 'ada@stub.test'

const lost = (reason: string, seconds?: number) => [
  'lost',
  reason,
  ...(seconds === undefined ? [] : [seconds]),
]

/** What servers say, word for word: Prosody's, ejabberd's, and what the standard knows besides. */
const endings: readonly (readonly [string, string | undefined, readonly unknown[]])[] = [
  ['conflict', 'Replaced by new connection', ['replaced']],
  ['conflict', 'go away', lost('session_kicked', 300)],
  // As jabberd2, Openfire and the standard have it: another client has bound the same resource.
  ['conflict', undefined, ['replaced']],
  ['conflict', 'User removed', ['invalid', 'account_deleted']],
  ['conflict', 'Removed by the operator', lost('session_kicked', 300)],
  ['policy-violation', 'has been kicked', lost('session_kicked', 300)],
  ['policy-violation', 'Too many unacked stanzas', lost('policy_violation', 300)],
  ['policy-violation', 'XML stanza is too big', lost('stanza_refused')],
  ['not-authorized', 'Account deleted', ['invalid', 'account_deleted']],
  ['not-authorized', 'Account disabled', ['invalid', 'account_disabled']],
  ['not-authorized', undefined, lost('not_authorized', 300)],
  ['reset', 'Password changed', ['revoked', 'password_changed']],
  ['reset', undefined, lost('stream_closed')],
  ['host-gone', undefined, lost('domain_gone', 60)],
  ['host-unknown', 'This server does not serve stub.test', lost('domain_gone', 60)],
  ['see-other-host', undefined, lost('server_moved', 300)],
  ['system-shutdown', undefined, lost('server_shutdown')],
  ['resource-constraint', undefined, lost('server_overloaded', 60)],
  ['internal-server-error', undefined, lost('server_error', 60)],
  ['connection-timeout', 'Idle connection', lost('network')],
  ['not-well-formed', undefined, lost('protocol_error')],
  ['undefined-condition', 'Kicked', lost('session_kicked', 300)],
  ['undefined-condition', undefined, lost('stream_closed')],
  ['made-up-yesterday', undefined, lost('stream_closed')],
]

for (const [condition, text, report] of endings) {
  t.test(`${condition}: ${text ?? 'without a word'}`, async (t) => {
    const { promise: there, resolve: isThere } = Promise.withResolvers<void>()
    let say: (words: string) => void = () => undefined
    const { server, stop } = await startXmppStub(jid, {
      answer: () => undefined,
      present: (write) => {
        say = write
        isThere()
      },
    })
    const { platform, store, fields } = world(server)
    const account = { native: jid, method: 'password', fields }
    Object.assign(store, await linked(platform, account))
    const session = run(platform, store)
    t.teardown(async () => {
      await session.stop()
      await stop()
    })
    await there
    say(farewell(condition, text))
    const [kind, ...more] = report
    const told = await session.reported(kind as 'lost')
    t.strictSame(
      told.filter((part) => part !== undefined),
      more,
    )
    t.equal(session.reports.filter(([name]) => name !== 'opened').length, 1, 'and that once')
  })
}

function world(server: string) {
  const platform = xmppPlatform({
    logger: quietLogger,
    allowPrivate: true,
    media: new Files(),
    rooms: new MemoryRooms(),
  })
  const store = new Store({ identity: { native: jid, firstName: 'ada' }, secrets: null })
  return { platform, store, fields: { jid, password: 'x', server } }
}

t.test('every reason is told in words, with what to do', async (t) => {
  for (const reason of new Set(endings.flatMap(([, , [, reason]]) => reason ?? []))) {
    t.notMatch(explained(String(reason), 'wait').text, /^The platform says: /, `${reason}`)
  }
})

t.test('the refusal of a login', async (t) => {
  const refused = (condition: string) =>
    endingOf(Object.assign(new Error('x'), { name: 'SASLError', condition }))
  const doubted = { kind: 'revoked', reason: 'password_changed', mayPass: true }
  t.strictSame(refused('not-authorized'), doubted)
  t.strictSame(refused('credentials-expired'), { kind: 'revoked', reason: 'password_changed' })
  t.strictSame(refused('account-disabled'), { kind: 'invalid', reason: 'account_disabled' })
  t.match(refused('temporary-auth-failure'), { kind: 'lost', reason: 'login_unavailable' })
  t.match(refused('mechanism-too-weak'), { kind: 'lost', reason: 'login_failed' })
  // A server may say anything, also what every object has.
  for (const condition of ['constructor', '__proto__', 'toString']) {
    t.match(refused(condition), { kind: 'lost', reason: 'login_failed' }, condition)
    const stream = Object.assign(new Error('x'), { name: 'StreamError', condition })
    t.match(endingOf(stream), { kind: 'lost', reason: 'stream_closed' }, condition)
  }
})

t.test('a server that sent the account away is not asked again within moments', async (t) => {
  let asked = 0
  let cutIt: () => unknown = () => undefined
  const { promise: there, resolve: isThere } = Promise.withResolvers<void>()
  const { server, stop } = await startXmppStub(jid, {
    answer: () => undefined,
    present: (_write, cut) => {
      cutIt = cut
      isThere()
    },
    refuse: () => (isOver ? farewell('policy-violation', `no. ${++asked}`) : undefined),
  })
  let isOver = false
  const { platform, store, fields } = world(server)
  Object.assign(store, await linked(platform, { native: jid, method: 'password', fields }))
  const session = run(platform, store)
  t.teardown(async () => {
    await session.stop()
    await stop()
  })
  await there
  isOver = true
  cutIt()
  t.strictSame(await session.reported('lost'), ['policy_violation', 300])
  t.equal(asked, 1)
})

t.test('a conflict that meets a login says nothing of another client', async (t) => {
  const { server, stop } = await startXmppStub(jid, {
    answer: () => undefined,
    refuse: () => (isOver ? farewell('conflict') : undefined),
  })
  let isOver = false
  const { platform, store, fields } = world(server)
  Object.assign(store, await linked(platform, { native: jid, method: 'password', fields }))
  isOver = true
  const session = run(platform, store)
  t.teardown(async () => {
    await session.stop()
    await stop()
  })
  t.strictSame(await session.reported('lost'), ['session_conflict', 300])
})
