/** A crash stays with its actor: callers are answered, the session ends, the process goes on. */
import t from 'tap'
import type { CredentialStore } from '../../../actors/ports/ports.ts'
import { RequestFailed } from '../../../machines/model/failure.ts'
import type { PublicOperation } from '../../../machines/model/operation.ts'
import { settled } from '../../support/clock.ts'
import { FakeCredentialStore, type only } from '../../support/fakes.ts'
import { refused } from '../refused.ts'
import { CredentialRig, deleted, stateOf } from './rig.ts'

const boom = (): never => {
  throw new Error('boom')
}

/** Everything that would end the process. */
const fatal: unknown[] = []
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (cause: unknown) => fatal.push(cause))
}

const storeWith = (t: Parameters<typeof only>[0], broken: Partial<CredentialStore>) =>
  new FakeCredentialStore(t, broken).port

t.test('a crash ends the session and refuses its events', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const { session } = rig.platform
  const queued = session.report.events([deleted('a')], 'c1')
  const pending = actor.ask({ type: 'credential.delete' })
  crash(actor)
  t.match(await actor.closed, { message: /boom/ })
  await refused(t, pending, { code: 'unavailable', retryAfterSeconds: 1 })
  await refused(t, queued, { code: 'unavailable' })
  await settled()
  t.ok(session.signal.aborted)
  t.ok(session.closings.length > 0, 'nobody is left to use it')
  await refused(t, session.report.events([deleted('b')], 'c2'), { code: 'unavailable' })
  t.equal(rig.clock.timers, 0)
})

t.test('a crash while connecting gives its turn back', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.onOpen = () => undefined
  const crashing = [rig.activate(), rig.activate()]
  const next = rig.activate()
  await settled()
  t.equal(stateOf(next), 'queued')
  for (const actor of crashing) crash(actor)
  await settled()
  t.equal(stateOf(next), 'live.starting')
})

t.test('leaving the queue gives the place in it back', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.onOpen = () => undefined
  const first = [rig.activate(), rig.activate()]
  const [stopping, deleting, restarting, last] = [1, 2, 3, 4].map(() => rig.activate())
  stopping?.stop()
  await deleting?.ask({ type: 'credential.delete' })
  await restarting?.ask({ type: 'credential.restart' })
  t.equal(rig.budget.waiting, 2)
  for (const actor of first) actor.stop()
  await settled()
  t.equal(restarting && stateOf(restarting), 'live.starting')
  t.equal(last && stateOf(last), 'live.starting')
})

t.test('a store that throws while the account is read crashes the actor alone', async (t) => {
  const rig = new CredentialRig(t, { store: storeWith(t, { account: boom }) })
  const actor = rig.activate()
  t.match(await actor.closed, { message: 'boom' })
  await t.rejects(actor.ask({ type: 'credential.check' }), RequestFailed)
})

t.test('a platform that throws while opening costs an attempt', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.onOpen = boom
  const actor = rig.activate()
  await settled()
  t.equal(stateOf(actor), 'waiting')
  t.match(rig.logger.errors, [{ err: { message: 'boom' } }])
})

t.test('a timeline or a health record that throws disturbs nothing', async (t) => {
  const rig = new CredentialRig(t, { store: storeWith(t, { record: boom, noteHealth: boom }) })
  const actor = await rig.online()
  await rig.platform.session.report.events([deleted('a')], 'c1')
  t.ok(rig.logger.errors.length > 0)
  t.ok(actor.isActive)
  t.equal(await actor.ask({ type: 'credential.delete' }), true)
})

t.test('an operation whose port throws is answered and logged', async (t) => {
  const identities = { identified() {}, toNative: boom, present: boom }
  const rig = new CredentialRig(t, { identities })
  const actor = await rig.online()
  await refused(
    t,
    actor.ask({ type: 'operation.perform', operation: { kind: 'describe', chat: 1 }, now: 0 }),
    { code: 'internal', description: '' },
  )
  t.match(rig.logger.errors, [{ err: { message: 'boom' } }])
  t.equal(stateOf(actor), 'live.online')
})

t.test(
  'what was under way when the actor ended may have been done, and nobody is told to repeat it',
  async (t) => {
    const result = Promise.withResolvers<never>()
    const identities = {
      identified() {},
      toNative: async (_: number, operation: never) => operation,
      present: boom,
    }
    const rig = new CredentialRig(t, { identities })
    const asking = async (end: (actor: Actor) => void, operation: PublicOperation) => {
      const actor = await rig.online()
      rig.platform.session.onPerform = () => result.promise
      const asked = actor.ask({ type: 'operation.perform', operation, now: 0 })
      await settled()
      end(actor)
      return asked
    }
    const send: PublicOperation = {
      kind: 'send',
      chat: 1,
      content: { kind: 'text', text: 'x', entities: [] },
    }
    const sent = {
      code: 'timeout' as const,
      certain: false,
      description:
        'the credential stopped before the platform answered; the message may have been sent',
    }
    await refused(t, asking(crash, send), sent)
    await refused(
      t,
      asking((actor) => actor.stop(), send),
      sent,
    )
    const edit: PublicOperation = { kind: 'delete', chat: 1, message: 2 }
    await refused(t, asking(crash, edit), { code: 'timeout', certain: false })
    await refused(t, asking(crash, { kind: 'describe', chat: 1 }), { code: 'unavailable' })
    const stopped = await rig.online()
    stopped.stop()
    const late = stopped.ask({ type: 'operation.perform', operation: send, now: 0 })
    await refused(t, late, { code: 'unavailable', retryAfterSeconds: 1 })
  },
)

t.test('events that cannot even be counted end the session, not the storing', async (t) => {
  let isBroken = true
  const noteEvents = () => (isBroken ? boom() : undefined)
  const rig = new CredentialRig(t, { store: storeWith(t, { noteEvents }) })
  await rig.online()
  await t.rejects(rig.platform.session.report.events([deleted('a')], 'c1'), { message: 'boom' })
  isBroken = false
  await rig.clock.advance(2_000)
  await rig.platform.session.report.events([deleted('a')], 'c1')
  t.equal(rig.updates.appended.length, 1)
})

t.test('a session that throws while it is closed disturbs nothing', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  rig.platform.session.close = boom
  rig.platform.session.report.lost('network')
  await rig.clock.advance(2_000)
  t.equal(stateOf(actor), 'live.online')
  rig.platform.session.close = boom
  t.equal(await actor.ask({ type: 'credential.delete' }), true)
})

t.test('nothing of all this reached the process', async (t) => {
  await settled()
  t.same(fatal, [])
})

type Actor = ReturnType<CredentialRig['activate']>

/** Tells the actor something that its machine cannot digest. */
function crash(actor: Actor) {
  const event = Object.defineProperty({ type: 'session.limited' }, 'reason', { get: boom })
  const opened = Object.defineProperty({ type: 'request.settled' }, 'reply', { get: boom })
  actor.tell(event as never)
  actor.tell(opened as never)
}
