/** A call that is passed on: what its caller may believe, and what the other keys learn. */
import t from 'tap'
import type { PassCall } from '../../../actors/credential/pass.ts'
import type { Session } from '../../../actors/ports/platform.ts'
import type { Passed } from '../../../machines/model/operation-passing.ts'
import { refused } from '../refused.ts'
import { CredentialRig, deleted, everything, timing } from './rig.ts'

// A limit alone keeps no process running.
const running = setInterval(() => undefined, 1_000)
t.teardown(() => clearInterval(running))

const calling = (method: string): PassCall => ({
  call: { kind: 'pass', verb: 'POST', method, query: '' },
  requestId: 'r',
  apiKeyId: 5,
  traceId: 'trace',
})

const deletion: PassCall = {
  ...calling('deleteMessages'),
  call: { ...calling('deleteMessages').call, deletes: { chat: 7, messages: [1, 2] } },
}

const passed = (more: Partial<Passed> = {}): Passed => ({
  kind: 'passed',
  status: 200,
  text: '{"ok":true,"result":true}',
  result: () => 'true',
  own: () => [],
  ...more,
})

const answering = (rig: CredentialRig, answer: () => Promise<unknown>) => {
  rig.platform.session.onPerform = answer as Session['perform']
}

t.test('what was not answered in time may have been done, unless it only reads', async (t) => {
  const rig = new CredentialRig(t, { timing: { ...timing, performTakes: 30 } })
  const actor = await rig.online()
  answering(rig, () => new Promise(() => undefined))
  const late = { code: 'timeout', certain: false } as const
  for (const method of ['sendMessage', 'SENDPHOTO', 'forwardMessage', 'copyMessage']) {
    const asked = actor.effects.pass(calling(method))
    await refused(t, asked, { ...late, reason: 'sent_unconfirmed' })
  }
  for (const method of ['setMyName', 'targetMessage']) {
    await refused(t, actor.effects.pass(calling(method)), { ...late, reason: 'done_unconfirmed' })
  }
  for (const method of ['getChat', 'getme']) {
    const told = { code: 'timeout', reason: 'no_answer' } as const
    await refused(t, actor.effects.pass(calling(method)), told)
  }
})

t.test('the limit of time counts from the last piece of a file', async (t) => {
  const rig = new CredentialRig(t, { timing: { ...timing, performTakes: 200 } })
  const actor = await rig.online()
  async function* bytes() {
    for (let piece = 0; piece < 4; piece++) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      yield Buffer.from('x')
    }
  }
  let taken = 0
  rig.platform.session.onPerform = (async (call: PassCall['call']) => {
    const { bytes } = call.body as { bytes: AsyncIterable<Buffer> }
    for await (const piece of bytes) taken += piece.length
    return passed()
  }) as unknown as Session['perform']
  const { call, ...rest } = calling('sendDocument')
  await actor.effects.pass({ ...rest, call: { ...call, body: { type: 'x/y', bytes: bytes() } } })
  t.equal(taken, 4)
})

t.test('nothing is passed on while it is not certain who owns the account', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  rig.lease.isValid = false
  await refused(t, actor.effects.pass(calling('sendMessage')), { code: 'unavailable' })
})

t.test('without a session it is refused, and nothing was done', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  rig.platform.onOpen = () => undefined
  rig.platform.session.report.lost('network')
  await rig.clock.advance(1)
  const asked = actor.effects.pass(calling('sendMessage'))
  await refused(t, asked, { code: 'unavailable', reason: 'reconnecting' })
})

t.test('the other keys learn what it did, and nothing of what was refused', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  answering(rig, async () => passed({ own: () => [deleted('sent')] }))
  await actor.effects.pass(deletion)
  const own = { sourceKey: 'own:r', direction: 'own', chat: '7', messages: ['1', '2'] }
  t.match(rig.updates.appended, [
    { epoch: 3, apiKeyId: 5, traceId: 'trace', happenings: [{ sourceKey: 'sent' }, own] },
  ])
  answering(rig, async () => passed({ failure: { code: 'forbidden', description: 'no' } }))
  await actor.effects.pass(deletion)
  answering(rig, async () => passed())
  await actor.effects.pass(calling('sendChatAction'))
  t.equal(rig.updates.appended.length, 1)
})

t.test('nor where they do not want to know', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online({ settings: { ...everything, includeSelfUpdates: false } })
  answering(rig, async () => passed({ own: () => [deleted('sent')] }))
  await actor.effects.pass(deletion)
  t.same(rig.updates.appended, [])
})
