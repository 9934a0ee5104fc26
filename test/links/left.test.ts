/** Link flows that nobody was there to end: the session that the network has opened for one is signed out, once. */
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { LinkStep, Platform } from '../../actors/ports/platform.ts'
import type { LinkState } from '../../machines/link/events.ts'
import { LinkFlows } from '../../src/links/flows.ts'
import { PostgresLinkStore } from '../../src/links/store.ts'
import { steadyClock } from '../../src/nodes/nodes.ts'
import { failureOf } from '../support/accounts.ts'
import { FakeLogger, only } from '../support/fakes.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

/** Within it an actor that has begun does all that it has to do. */
const QUIET_MS = 500

const none = () => Promise.reject(new Error('nobody answers'))

async function scene(t: Test) {
  const { db, credential } = await stage(t)
  const vault = await testVault(t, db)
  await credential()
  const [user] = await db.query<{ id: number }>('select id from app_user', [])
  const userId = user!.id
  const network = { isAway: false, step: undefined as LinkStep | undefined, ended: [] as unknown[] }
  const ends = async (session: unknown) => {
    if (network.isAway) throw new Error('the network is away')
    network.ended.push(session)
  }
  const platform = {
    ...only<Platform>(t, 'Platform', {
      id: 'test',
      linkMethods: [],
      async resumeLink(stored) {
        const step = network.step ?? { kind: 'password', stored }
        const close = async (options?: { readonly signOut: boolean }) => {
          if (options?.signOut && step.kind !== 'done') await ends(stored)
        }
        return { step, answer: none, changed: none, close }
      },
      signOut: (secrets) => ends(secrets),
    }),
    unavailable: '',
  }
  const node = async () => {
    const [row] = await db.query<{ id: number }>(
      `insert into node (name, version, schema, state) values ('n', '1', '1', 'up') returning id`,
      [],
    )
    return row!.id
  }
  const hasEnded = (id: number) =>
    db.query(`update node set state = 'gone', ended_at = now() where id = $1`, [id])
  /** A process, which is that node. */
  const processOf = (id: number) => {
    const platforms = new Map([['test', platform]])
    const store = new PostgresLinkStore({
      ...{ db, vault, platforms, held: () => undefined, onFinish: async () => undefined },
      ...{ incarnation: () => id, owner: () => id },
    })
    const flows = new LinkFlows({
      ...{ store, platforms, answerTakes: 10_000, clock: { ...steadyClock, now: Date.now } },
      logger: new FakeLogger(),
      gate: { start: async () => undefined, resend: async () => undefined },
    })
    t.teardown(() => flows.stop())
    return { store, flows }
  }
  let flows = 0
  /** A flow that the network waits for, begun at that node. */
  const begun = async (by: number, overForMs: number, state: LinkState = 'password_needed') => {
    const sessionId = `flow ${++flows}`
    await processOf(by).store.create({
      ...{ sessionId, userId, platform: 'test', method: 'phone', attemptsLeft: 5 },
      ...{ relinks: undefined, target: undefined, stored: sessionId },
      step: { state: 'password_needed' },
      expiresAt: Date.now() - overForMs,
    })
    await db.query('update link_session set state = $2 where id = $1', [sessionId, state])
    return sessionId
  }
  const rows = () =>
    db.query<{ state: string; node: number; sealed: boolean }>(
      'select state, node, stored is not null as sealed from link_session order by id',
      [],
    )
  const look = async ({ flows }: { readonly flows: LinkFlows }) => {
    await flows.endLeft()
    await pause(QUIET_MS)
  }
  return { db, userId, platform, network, node, hasEnded, processOf, begun, rows, look }
}

const MINUTE = 60_000

t.test(
  'a flow whose time is over while no process runs is ended, by one of all nodes',
  async (t) => {
    const { network, node, hasEnded, processOf, begun, rows, look } = await scene(t)
    const [before, here, there] = [await node(), await node(), await node()]
    await begun(before, MINUTE)
    const [one, two] = [processOf(here), processOf(there)]
    await look(one)
    t.same(network.ended, [], 'not while its node lives')
    await hasEnded(before)
    await Promise.all([look(one), look(two)])
    t.same(network.ended, ['flow 1'])
    t.match(await rows(), [{ state: 'expired', sealed: false }])
    await look(processOf(await node()))
    t.same(network.ended, ['flow 1'], 'and never again')
  },
)

t.test('one that is asked for after its time, too', async (t) => {
  const { network, node, hasEnded, processOf, begun, rows, userId } = await scene(t)
  const [before, here] = [await node(), await node()]
  const flow = await begun(before, 1)
  await hasEnded(before)
  const { actor } = await processOf(here).flows.find(flow, userId)
  t.equal(actor.snapshot.value, 'expired')
  await pause(QUIET_MS)
  t.same(network.ended, [flow])
  t.match(await rows(), [{ state: 'expired', node: here, sealed: false }])
})

t.test('a code that was scanned meanwhile has signed in the session that is ended', async (t) => {
  const { network, node, processOf, begun, rows, look } = await scene(t)
  const here = await node()
  await begun(here, MINUTE, 'waiting')
  const account = { native: 'somebody', firstName: 'Bo' }
  network.step = { kind: 'done', account, secrets: 'of the scan' }
  await look(processOf(here))
  t.same(network.ended, ['of the scan'])
  t.match(await rows(), [{ state: 'expired', sealed: false }])
})

t.test('what a process had no more time for is done after its restart', async (t) => {
  const { network, node, hasEnded, processOf, begun, rows, look } = await scene(t)
  const [before, here] = [await node(), await node()]
  await begun(before, MINUTE, 'cancelled')
  await begun(before, MINUTE, 'failed')
  await begun(before, -MINUTE)
  await hasEnded(before)
  await look(processOf(here))
  t.same(network.ended, ['flow 1', 'flow 2'])
  t.match(await rows(), [
    { state: 'cancelled', sealed: false },
    { state: 'failed', sealed: false },
    { state: 'password_needed', sealed: true },
  ])
})

t.test(
  'a network that is away is asked again by another actor, or once it is available',
  async (t) => {
    const { network, platform, node, processOf, begun, rows, look } = await scene(t)
    const here = await node()
    await begun(here, MINUTE)
    platform.unavailable = 'not configured'
    const first = processOf(here)
    await look(first)
    t.match(await rows(), [{ state: 'password_needed', sealed: true }])
    platform.unavailable = ''
    network.isAway = true
    await look(first)
    t.match(await rows(), [{ state: 'expired', sealed: true }])
    network.isAway = false
    await look(processOf(here))
    t.same(network.ended, ['flow 1'])
    t.match(await rows(), [{ state: 'expired', sealed: false }])
  },
)

t.test('a secret that nobody can read keeps nothing from its end', async (t) => {
  const { db, network, node, processOf, begun, look } = await scene(t)
  const here = await node()
  await begun(here, MINUTE)
  await begun(here, MINUTE)
  await db.query(`update link_session set stored = '\\x00' where id = 'flow 1'`, [])
  await look(processOf(here))
  t.same(network.ended, ['flow 2'])
})

t.test('flows of a user are cancelled also where their node has ended', async (t) => {
  const { network, node, hasEnded, processOf, begun, rows, userId } = await scene(t)
  const [before, here] = [await node(), await node()]
  await begun(before, -MINUTE)
  await hasEnded(before)
  await processOf(here).flows.endAll(userId)
  await pause(QUIET_MS)
  t.same(network.ended, ['flow 1'])
  t.match(await rows(), [{ state: 'cancelled', sealed: false }])
})

t.test('two nodes never run one flow', async (t) => {
  const { network, node, hasEnded, processOf, begun, rows, userId } = await scene(t)
  const [before, here, there] = [await node(), await node(), await node()]
  const flow = await begun(before, -MINUTE)
  const at = (id: number) => processOf(id).flows.find(flow, userId)
  const elsewhere = {
    ...{ code: 'unavailable', description: 'the link session is at another node' },
    retryAfterSeconds: 1,
  }
  t.match(await failureOf(at(here)), elsewhere, 'its node lives')
  await hasEnded(before)
  t.match((await at(here)).actor.snapshot.value, { open: 'password_needed' })
  t.match(await failureOf(at(there)), elsewhere, 'another has taken it')
  t.match(await rows(), [{ state: 'password_needed', node: here }])
  t.same(network.ended, [])
})
