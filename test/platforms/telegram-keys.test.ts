/** Keys that a data centre does not know: the account's own is kept, because the network may know it again later. */
import { Long } from '@mtcute/core'
import t, { type Test } from 'tap'
import type { ServerSession } from '../support/telegram-dc/connection.ts'
import { serviceAnswer } from '../support/telegram-dc/service-answer.ts'
import { run } from './contract/recorder.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

/** An account whose session was stopped after it had heard something. */
async function stopped(t: Test) {
  const stage = await Stage.start(t)
  const account = await live(t, stage)
  const first = await account.open()
  account.write('before')
  await account.store.message('before')
  await first.stop()
  return { stage, ...account }
}

t.test('an account goes on with its key once the network knows it again', async (t) => {
  const { stage, person, store, open, write } = await stopped(t)

  const devices = stage.network.centres[0]!.devices
  const [name, device] = [...devices].find(([, { userId }]) => userId === person.id)!
  devices.delete(name)
  const { secrets } = store
  const refused = run(stage.platform(), store)
  t.teardown(() => refused.stop())
  t.strictSame(await refused.reported('revoked'), ['session_revoked'])
  t.strictSame(store.secrets, secrets, 'its key stays')

  devices.set(name, device)
  write('meanwhile')
  await open()
  await store.message('meanwhile')
})

t.test('an account that its data centre has sent elsewhere comes back to it', async (t) => {
  const { stage, person, store, open, write } = await stopped(t)

  person.sentTo = 4
  const { secrets } = store
  const refused = run(stage.platform(), store)
  t.teardown(() => refused.stop())
  t.strictSame(await refused.reported('revoked'), ['session_revoked'])
  t.strictSame(store.secrets, secrets, 'its home stays')

  delete person.sentTo
  write('meanwhile')
  await open()
  await store.message('meanwhile')
})

t.test('the test network gives as many salts as a client asks for', async (t) => {
  const device = { auth: { salt: Long.ONE } }
  const session = { received: new Set(), device } as unknown as ServerSession
  const asked = { _: 'mt_get_future_salts', num: 3 }
  const answer = serviceAnswer(asked, Long.ONE, session, true)
  const salts = answer?.salts as readonly {
    readonly validSince: number
    readonly validUntil: number
  }[]
  const [first, second, third] = salts
  t.equal(first?.validSince, answer?.now, 'one counts at once')
  t.equal(second?.validSince, first?.validUntil)
  t.equal(third?.validSince, second?.validUntil, 'each follows the one before')
})
