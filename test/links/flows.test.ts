/** Link flows over the database: begun, ended by their first step, and gone on with in another process. */
import t, { type Test } from 'tap'
import type { LinkStep, Platform } from '../../actors/ports/platform.ts'
import { OPEN_STATES } from '../../machines/link/events.ts'
import { failed } from '../../machines/model/failure.ts'
import { nativeIndex } from '../../src/credentials/identity.ts'
import type { Database } from '../../src/database/database.ts'
import { LinkFlows, resumable } from '../../src/links/flows.ts'
import { PostgresLinkStore } from '../../src/links/store.ts'
import { LinkRig } from '../actors/link/rig.ts'
import { refused } from '../actors/refused.ts'
import { failureOf } from '../support/accounts.ts'
import { TestClock } from '../support/clock.ts'
import { FakeLogger, only } from '../support/fakes.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

const USER = 1

/** A user with one account, on a network whose links are accepted at once. */
async function scene(t: Test) {
  const { db, credential } = await stage(t)
  const vault = await testVault(t, db)
  const credentialId = await credential()
  const [row] = await db.query<{ user_id: number }>('select user_id from credential', [])
  const userId = row?.user_id ?? USER
  await db.query('update credential set native_id = $1', [nativeIndex(vault, 'own')])
  const account = { native: 'other', firstName: 'Bo' }
  const step: LinkStep = { kind: 'done', account, secrets: 'secret' }
  const network = { asked: [] as string[], signedOut: [] as unknown[] }
  const platform = only<Platform>(t, 'Platform', {
    id: 'test',
    unavailable: '',
    linkMethods: [],
    async startLink(_method, _fields, _signal, _user, assertMeant) {
      assertMeant?.(account.native)
      network.asked.push('changed')
      const none = () => Promise.reject(failed('conflict'))
      return { step, answer: none, changed: none, close: async () => undefined }
    },
    signOut: async (secrets) => void network.signedOut.push(secrets),
  })
  const platforms = new Map([['test', platform]])
  const process = { node: null as number | null }
  const hurdle = { before: async (_: Database) => {}, after: async () => {} }
  const store = new PostgresLinkStore({
    db,
    vault,
    platforms,
    held: () => undefined,
    incarnation: () => process.node,
    owner: () => null,
    onFinish: () => hurdle.after(),
  })
  const { finish } = store
  store.finish = async (...link) => {
    await hurdle.before(db)
    return finish.apply(store, link)
  }
  const flows = new LinkFlows({
    store,
    platforms,
    clock: new TestClock(),
    logger: new FakeLogger(),
    answerTakes: 10_000,
    gate: { start: async () => undefined, resend: async () => undefined },
  })
  t.teardown(() => flows.stop())
  const start = (relinks?: number) =>
    flows.start({ userId, platform: 'test', method: 'token', fields: {}, relinks })
  const open = () => flows.open(userId, { limit: 9, before: undefined })
  return { db, credentialId, network, hurdle, start, open, store, userId, process, account }
}

t.test('of an account that is not the one to be linked again nothing is changed', async (t) => {
  const { db, credentialId, network, start } = await scene(t)
  t.match(await failureOf(start(credentialId)), {
    code: 'bad_request',
    reason: 'other_account',
    description: 'this is another account than the one to be linked again',
  })
  t.same(network.asked, [])
  t.same(await db.query('select from link_session', []), [])
  await db.query('update credential set deleting_at = now()', [])
  t.match(await failureOf(start(credentialId)), { reason: 'credential_deleted' })
})

t.test('a link that fails with its first step waits for nothing', async (t) => {
  const { db, network, hurdle, start, open, store, account } = await scene(t)
  hurdle.before = () => Promise.reject(new Error('disk full'))
  await t.rejects(start(), { message: 'disk full' })
  t.same(await open(), [])
  t.same(await db.query('select state from link_session', []), [{ state: 'failed' }])
  t.same(network.signedOut, ['secret'], 'and leaves nothing signed in')
  hurdle.before = async () => {}
  const [flow] = await db.query<{ id: string }>('select id from link_session', [])
  t.match(await failureOf(store.finish(flow!.id, account, 'secret')), { reason: 'link_over' })
})

t.test('an account that is stored keeps its session, whatever fails after that', async (t) => {
  const { db, network, hurdle, start } = await scene(t)
  hurdle.after = () => Promise.reject(new Error('it does not start'))
  await t.rejects(start(), { message: 'it does not start' })
  t.same(await db.query('select state from link_session', []), [{ state: 'linked' }])
  t.same(network.signedOut, [])
})

t.test('a flow that only its first process could go on with is over in any other', async (t) => {
  const rig = new LinkRig(t)
  for (const state of OPEN_STATES) {
    t.equal(resumable(rig.facts({ state, stored: null })).state, 'expired')
    t.equal(resumable(rig.facts({ state })).state, state)
  }
  t.equal(resumable(rig.facts({ state: 'linked', stored: null })).state, 'linked')
  const actor = rig.begin(resumable(rig.facts({ stored: null })))
  await refused(t, actor.ask({ type: 'link.verify', code: '12345' }), {
    description: 'the link session is over; start again',
  })
})

t.test(
  'a flow is ended by who has it, and links no account once another has ended it',
  async (t) => {
    const { db, store, userId, process, account } = await scene(t)
    const node = async (state: 'up' | 'gone') => {
      const [row] = await db.query<{ id: number }>(
        `insert into node (name, version, schema, state, ended_at)
       values ($1, '1', '1', $1, case when $1 = 'gone' then now() end) returning id`,
        [state],
      )
      return row!.id
    }
    const [here, living, gone] = [await node('up'), await node('up'), await node('gone')]
    const begun = async (by: number) => {
      const sessionId = crypto.randomUUID()
      process.node = by
      await store.create({
        ...{ sessionId, userId, platform: 'test', method: 'token', attemptsLeft: 5 },
        ...{ relinks: undefined, target: undefined, stored: 'secret' },
        step: { state: 'code_sent' },
        expiresAt: Date.now() + 60_000,
      })
      process.node = here
      return sessionId
    }
    const end = (sessionId: string) => store.saveEnd(sessionId, 'cancelled', 5)
    t.equal(await end(await begun(living)), false, 'its node ends the session')
    const own = await begun(here)
    t.equal(await end(own), true)
    t.equal(await end(own), true, 'once more, where the answer was lost')
    t.ok(await store.finish(own, account, 'late'), 'its own answer was under way')
    t.equal(await end(own), false, 'an account has the session')

    const left = await begun(gone)
    t.equal(await end(left), true, 'of a node that has ended')
    process.node = gone
    const late = await failureOf(store.finish(left, { ...account, native: 'third' }, 'late'))
    t.match(late, { reason: 'link_over', description: 'the link session is over; start again' })
    t.same(await db.query(`select state from link_session where id = $1`, [left]), [
      { state: 'cancelled' },
    ])
  },
)
