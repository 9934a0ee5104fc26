/** Accounts of ended nodes are claimed, and their webhooks looked for, also when one of both fails at first. */
import { mock } from 'node:test'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { NodesView } from '../../actors/node/actor.ts'
import type { CredentialFacts, LostCredential, Owned } from '../../actors/ports/ports.ts'
import { HealthBuffer } from '../../src/credentials/health.ts'
import { claimUnowned, followNodes, strayReleaser } from '../../src/credentials/ownership.ts'
import { PostgresCredentialStore } from '../../src/credentials/store.ts'
import { TimelineBuffer } from '../../src/credentials/timeline.ts'
import type { Database } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { FakeLogger } from '../support/fakes.ts'
import { quietLogger } from '../support/logger.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

const PAGE = 500

type Claimed = Awaited<ReturnType<PostgresCredentialStore['claimAll']>>[number]

/** Follows nodes over so many accounts without an owner; `changed` stands for a change of the nodes. */
function following(
  t: Test,
  accounts: number,
  failures: { page?: number; webhooks?: number; strays?: true },
  isPlacedHere = (_: number) => true,
) {
  const unowned: number[] = []
  const held = new Map<number, Owned>()
  const adopted: Owned[] = []
  const lost: LostCredential[] = []
  let free = Array.from({ length: accounts }, (_, index) => index + 1)
  const woken: number[] = []
  let changed: () => void = () => undefined
  const stop = followNodes({
    store: {
      async unowned(after) {
        if (after > 0 && failures.page) {
          failures.page--
          throw new Error('the database is away')
        }
        return free.filter((id) => id > after).slice(0, PAGE)
      },
      async claimAll(ids) {
        free = free.filter((id) => !ids.includes(id))
        return ids.map((credentialId) => ({ credentialId, epoch: 5, next: 1 }) as Claimed)
      },
      release: async () => [],
    },
    db: {
      async query() {
        if (failures.strays) throw new Error('the database is away')
        return []
      },
    },
    announce: () => undefined,
    updates: { opened: () => undefined },
    supervisor: {
      adopt: (facts) => void adopted.push(facts),
      factsOf: (id) => held.get(id) as CredentialFacts | undefined,
    },
    nodes: {
      view: () => ({ incarnation: 1 }) as NodesView,
      isPlacedHere,
      refreshPins: async () => undefined,
      onMembersChanged(listener) {
        changed = listener
      },
      onDeclaredGone: () => undefined,
    },
    metrics: { unowned: (count) => void unowned.push(count) },
    ownership: {
      lost(some) {
        for (const one of some) held.delete(one.credentialId)
        lost.push(...some)
      },
    },
    owned: () => held.values(),
    logger: pino({ level: 'silent' }),
    async claimed(ids) {
      if (failures.webhooks) {
        failures.webhooks--
        throw new Error('the database is away')
      }
      woken.push(...ids)
    },
  })
  t.teardown(stop)
  return { woken, unowned, held, adopted, lost, look: () => changed() }
}

t.test(
  'a later page that cannot be claimed keeps no webhook of the first one asleep',
  async (t) => {
    const { woken, look } = following(t, PAGE + 1, { page: 1 })
    look()
    await until(() => woken.length === PAGE + 1)
    t.equal(new Set(woken).size, PAGE + 1, 'each once')
  },
)

t.test('webhooks that could not be looked for are looked for again', async (t) => {
  const { woken, look } = following(t, 3, { webhooks: 1 })
  look()
  await until(() => woken.length === 3)
  look()
  t.strictSame(woken, [1, 2, 3])
})

t.test('accounts that are left to other nodes are counted, until they have an owner', async (t) => {
  const { unowned } = following(t, PAGE + 3, {}, (id) => id > 2)
  await until(() => unowned.length === 1, 5_000)
  t.same(unowned, [2])
})

t.test('accounts that became free while the node started are claimed at once', async (t) => {
  const { woken } = following(t, 2, {})
  await until(() => woken.length === 2)
})

t.test('a look for strays that fails keeps no account from being claimed', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const failures: Parameters<typeof following>[2] = { page: 1, strays: true }
  const { woken } = following(t, PAGE + 1, failures)
  // The first look meets a failure, the next one is the regular one.
  await until(() => failures.page === 0)
  mock.timers.tick(30_000)
  await until(() => woken.length === PAGE + 1)
})

t.test('what had another owner unnoticed is dropped, and runs again', async (t) => {
  const { held, adopted, lost, woken } = following(t, 3, {})
  held.set(1, { credentialId: 1, epoch: 3 })
  held.set(3, { credentialId: 3, epoch: 6 })
  await until(() => woken.length > 0)
  t.same(woken, [1, 2], 'a call has claimed the last one since')
  t.match(lost, [{ credentialId: 1, epoch: 3 }])
  t.match(adopted, [
    { credentialId: 1, epoch: 5 },
    { credentialId: 2, epoch: 5 },
  ])
})

/** A node on a real database, and so many accounts of which it runs none. */
async function onDatabase(t: Test, accounts: number) {
  const { db, credential } = await stage(t)
  const ids: number[] = []
  for (let count = 0; count < accounts; count++) ids.push(await credential())
  const [node] = await db.query<{ id: number }>(
    `insert into node (name, version, weight, schema, state) values ('here', 'test', 1, '', 'up') returning id`,
  )
  const incarnation = node?.id ?? 0
  const vault = await testVault(t, db)
  const store = new PostgresCredentialStore({
    db,
    vault,
    node: { name: 'here', incarnation: () => incarnation },
    timeline: new TimelineBuffer(db, 'here', quietLogger),
    health: new HealthBuffer(db, quietLogger),
    keysRevoked: async () => undefined,
  })
  const logger = new FakeLogger()
  const announced: true[] = []
  const world = {
    db,
    store,
    nodes: { view: () => ({ incarnation }) as NodesView },
    announce: () => void announced.push(true),
    logger,
  }
  return { world, ids, announced }
}

t.test('what belongs to the node and does not run is released at the second look', async (t) => {
  const { world, ids, announced } = await onDatabase(t, 2)
  const { store, logger } = world
  const [run = 0, stray = 0] = ids
  await store.claimAll([run, stray])
  const owned = () => [{ credentialId: run, epoch: 1 } as CredentialFacts]
  const look = strayReleaser({ ...world, owned })
  await look()
  t.same(await store.unowned(0, 10), [], 'its claim may be under way')
  // So it was: this claim is another one.
  await store.claim(stray)
  await look()
  t.same(await store.unowned(0, 10), [])
  t.equal(announced.length, 0)
  await look()
  t.same(await store.unowned(0, 10), [stray])
  t.same(logger.warnings, ['credentials that belonged to this node did not run: released'])
  t.equal(announced.length, 1, 'so that other nodes find it at once')
  await look()
  t.equal(logger.warnings.length, 1)
  t.equal(announced.length, 1)
})

t.test('strays that somebody has locked keep no other account from anybody', async (t) => {
  const { world, ids } = await onDatabase(t, 4)
  const { db, store, logger } = world
  const [locked = 0, another = 0, stray = 0, free = 0] = ids
  await store.claimAll([locked, another, stray])
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const adopted: number[] = []
  const stop = followNodes({
    ...world,
    updates: { opened: () => undefined },
    supervisor: {
      adopt: ({ credentialId }) => void adopted.push(credentialId),
      factsOf: () => undefined,
    },
    nodes: {
      ...world.nodes,
      isPlacedHere: () => true,
      refreshPins: async () => undefined,
      onMembersChanged: () => undefined,
      onDeclaredGone: () => undefined,
    },
    metrics: { unowned: () => undefined },
    ownership: { lost: () => undefined },
    owned: () => adopted.map((credentialId) => ({ credentialId, epoch: 1 })),
    claimed: async () => undefined,
  })
  t.teardown(stop)
  await until(() => adopted.length === 1)
  t.same(adopted, [free])
  await db.transaction(async (tx) => {
    await tx.query('select from credential_log where credential_id = $1 for update', [locked])
    await tx.query('select from credential where id = $1 for update', [another])
    const began = performance.now()
    // Two looks, of which the second one releases.
    for (let look = 0; look < 2; look++) mock.timers.tick(30_000)
    const isClaimed = async () => {
      // A transaction that does nothing for long would lose its lock.
      await tx.query('select')
      return adopted.length > 1
    }
    await until(isClaimed, 20_000)
    const took = performance.now() - began
    t.ok(took < 1_800, `${took} ms: no lock was waited for`)
  })
  t.same(adopted, [free, stray])
  t.same(logger.warnings, ['credentials that belonged to this node did not run: released'])
})

/** Does the work while somebody keeps the rows of these locked, each in one of its two tables. */
async function whileLocked(db: Database, [log, account]: [number, number], work: Promise<unknown>) {
  await db.transaction(async (tx) => {
    await tx.query('select from credential_log where credential_id = $1 for update', [log])
    await tx.query('select from credential where id = $1 for update', [account])
    let isOver = false
    void work.finally(() => {
      isOver = true
    })
    // A transaction that does nothing for long would lose its locks.
    await until(async () => {
      await tx.query('select')
      return isOver
    }, 20_000)
  })
}

t.test('an account that somebody keeps locked keeps no other one without an owner', async (t) => {
  const { world, ids } = await onDatabase(t, 4)
  const [first = 0, locked = 0, another = 0, last = 0] = ids
  const adopted: number[] = []
  const unowned: number[] = []
  const claims: object[] = []
  const woken: number[] = []
  const started = Promise.withResolvers<void>()
  const { store } = world
  const parts = {
    ...world,
    store: {
      unowned: (after: number, limit: number) => store.unowned(after, limit),
      claimAll(some: readonly number[], waits: boolean) {
        claims.push({ waits, after: [...adopted], woken: [...woken] })
        return store.claimAll(some, waits)
      },
    },
    updates: { opened: () => undefined },
    supervisor: {
      adopt: ({ credentialId }: Owned) => void adopted.push(credentialId),
      factsOf: () => undefined,
    },
    nodes: { isPlacedHere: () => true, refreshPins: () => started.promise },
    metrics: { unowned: (count: number) => void unowned.push(count) },
    ownership: { lost: () => undefined },
    claimed: async (some: readonly number[]) => woken.push(...some),
  }
  const claiming = claimUnowned(parts)
  const locking = whileLocked(world.db, [locked, another], claiming)
  const { logger } = world
  await until(async () => {
    const rows = await world.db.query(
      `select from credential_log l join credential c on c.id = l.credential_id for update skip locked`,
    )
    return rows.length === 2
  })
  started.resolve()
  await claiming
  t.same(
    claims,
    [
      { waits: false, after: [], woken: [] },
      { waits: true, after: [first, last], woken: [first, last] },
    ],
    'the others run before it waits, and so do their webhooks',
  )
  t.same(woken, [first, last], 'each once')
  t.same(adopted, [first, last])
  t.same(unowned, [2], 'which is shown')
  t.same(logger.warnings, [
    'credentials could not be claimed yet: something else has locked their rows, or the database failed',
  ])
  await locking
  await claimUnowned(parts)
  t.same(woken, [first, last, locked, another], 'the next look finds them')
  t.same(unowned, [2, 0])
})

t.test(
  'a locked account keeps no other one from being claimed by a call, or given away',
  async (t) => {
    const { world, ids } = await onDatabase(t, 3)
    const { db, store } = world
    const [locked = 0, another = 0, free = 0] = ids
    await store.claim(another)
    const owned = (credentialId: number) => ({ credentialId, epoch: 1 })
    const both = async () => {
      const began = performance.now()
      const late = store.claim(locked).catch(() => undefined)
      await store.claim(free)
      const tookMs = performance.now() - began
      return { late, tookMs, released: await store.release([owned(another), owned(free)]) }
    }
    const begin = Promise.withResolvers<void>()
    const working = begin.promise.then(both)
    const locking = whileLocked(db, [locked, another], working)
    await until(async () => {
      const rows = await db.query(
        'select from credential_log l join credential c on c.id = l.credential_id for update skip locked',
      )
      return rows.length === 1
    })
    begin.resolve()
    const { late, tookMs, released } = await working
    t.ok(tookMs < 1_500, `${tookMs} ms`)
    t.same(released, [free])
    await locking
    await late
    t.same(await store.release([owned(another)]), [another])
  },
)
