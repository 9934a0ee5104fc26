/** What memory holds of the logs: let go of in time, and never what a reader would miss. */
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { boundsFor, EventSemaphore, HeldMemory, heapGauge } from '../../src/updates/held.ts'
import fc from '../support/fast-check.ts'
import { FIRST, many, stage } from './stage.ts'

const AN_HOUR = 3_600_000

function counted(db: Database) {
  let queries = 0
  const counting: Database = {
    ...db,
    query<Row extends object>(...asked: Parameters<Database['query']>) {
      queries++
      return db.query<Row>(...asked)
    },
  }
  return { counting, queries: () => queries }
}

t.test('beyond its measure memory keeps what was written last', async (t) => {
  const { credential, node, db } = await stage(t)
  const [first, second] = [await credential(), await credential()]
  const { counting, queries } = counted(db)
  const roomy = await node([first, second], counting)
  const asks = async ({ read }: Pick<typeof roomy, 'read'>, id: number, count = 3) => {
    const before = queries()
    t.equal((await read(id, FIRST - 1)).count, count)
    return queries() - before
  }
  await roomy.append(first, many(3, 'a'))
  const one = roomy.updates.load.heldBytes
  await roomy.append(second, many(3, 'b'))
  t.same([await asks(roomy, first), await asks(roomy, second)], [0, 0])
  roomy.updates.forgetOld(AN_HOUR)
  t.same([await asks(roomy, first), await asks(roomy, second)], [0, 0])
  roomy.updates.forgetOld(-1)
  t.equal(roomy.updates.load.heldBytes, 0)
  t.same([await asks(roomy, first), await asks(roomy, second)], [1, 1])

  const tight = await node([first, second], counting, { held: 0.7 * one, storing: 100 })
  t.equal(await tight.append(first, many(3, 'a')), 0, 'what was reported before is known')
  await tight.append(first, many(1, 'c'))
  await tight.append(second, many(1, 'd'))
  const after = async (id: number) => {
    const before = queries()
    t.equal((await tight.read(id, FIRST + 2)).count, 1)
    return queries() - before
  }
  t.same([await after(first), await after(second)], [1, 0])
  t.equal(await tight.append(first, many(3, 'a')), 0, 'and what is reported again is still known')
  t.equal(await tight.append(first, many(1, 'e')), 1)
})

t.test('what is loaded only to find that all of it is known counts as well', async (t) => {
  const { credential, node } = await stage(t)
  const ids = [await credential(), await credential(), await credential()]
  const before = await node(ids)
  for (const id of ids) await before.append(id, many(50, 'a'))
  const { append, updates } = await node(ids)
  t.equal(await append(ids[0]!, many(50, 'a')), 0)
  const one = updates.load.heldBytes
  t.ok(one > 0)
  for (const id of ids) t.equal(await append(id, many(50, 'a')), 0)
  t.equal(updates.load.heldBytes, 3 * one)

  const tight = await node(ids, undefined, { held: 1.5 * one, storing: 100 })
  for (const id of ids) t.equal(await tight.append(id, many(50, 'a')), 0)
  t.equal(tight.updates.load.heldBytes, one)
})

t.test('a checkpoint alone needs nothing of what was reported before', async (t) => {
  const { credential, node, db } = await stage(t)
  const id = await credential()
  await (await node([id])).append(id, many(50, 'a'))
  const { counting, queries } = counted(db)
  const { append, updates } = await node([id], counting)
  const before = queries()
  t.equal(await append(id, [], { checkpoint: 1 }), 0)
  t.equal(queries(), before + 1)
  t.equal(updates.load.heldBytes, 0)
  t.equal(await append(id, many(51, 'a'), { checkpoint: 2 }), 1)
})

t.test('what retention takes and what another owner has come after is not counted', async (t) => {
  const { credential, node, epoch } = await stage(t)
  const id = await credential()
  const { append, updates } = await node([id])
  await append(id, many(3, 'a'))
  const { heldBytes } = updates.load
  updates.removed(id, FIRST + 1)
  t.ok(updates.load.heldBytes < heldBytes)

  const under = append(id, many(3, 'b'))
  await epoch(id, 1)
  await updates.open(id, 1)
  await under
  t.equal(updates.load.heldBytes, 0)
  t.equal(await append(id, many(1, 'c'), { epoch: 1 }), 1)
})

t.test('a single log that is larger than all of the measure is held by nobody', async (t) => {
  const { credential, node } = await stage(t)
  const id = await credential()
  const { append, read, updates } = await node([id], undefined, { held: 1, storing: 1 })
  await append(id, many(3, 'a'))
  t.equal(updates.load.heldBytes, 0)
  t.equal((await read(id, FIRST - 1)).count, 3)
  await append(id, many(2, 'b'))
  t.equal((await read(id, FIRST - 1)).count, 5)
})

t.test('the measure follows the heap', async (t) => {
  const megabyte = 2 ** 20
  t.same(boundsFor(256 * megabyte), { held: 32 * megabyte, storing: 2_048 })
  t.same(boundsFor(4_096 * megabyte), { held: 512 * megabyte, storing: 32_768 })
  t.same(boundsFor(64_000 * megabyte), { held: 512 * megabyte, storing: 512_000 })
  t.equal(boundsFor(16 * megabyte).storing, 500)
})

t.test('while the heap is nearly full, a quarter of the measure is held', async (t) => {
  let [used, time] = [0, 0]
  const statistics = () => ({ used_heap_size: used, heap_size_limit: 100 })
  const held = new HeldMemory<{ heldBytes: number; letGo(): void }>(
    100,
    heapGauge(statistics, () => time),
  )
  const gone: number[] = []
  const add = (name: number) => held.used({ heldBytes: 20, letGo: () => gone.push(name) })
  for (const name of [1, 2, 3, 4, 5]) add(name)
  t.same(gone, [])
  used = 71
  add(6)
  t.same(gone, [1], 'the heap is looked at a few times a second only')
  time += 200
  add(7)
  t.same(gone, [1, 2, 3, 4, 5, 6])
  used = 70
  time += 200
  for (const name of [8, 9, 10, 11]) add(name)
  t.same(gone, [1, 2, 3, 4, 5, 6])
})

t.test('what is held is counted exactly, and never beyond the measure', async () => {
  const change = fc.constantFrom('used', 'used', 'gone', 'shrunk')
  const step = fc.record({ owner: fc.nat(4), bytes: fc.nat(60), change })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const held = new HeldMemory<{ heldBytes: number; letGo(): void }>(100, () => false)
      const owners = Array.from({ length: 5 }, () => ({
        heldBytes: 0,
        letGo() {
          this.heldBytes = 0
        },
      }))
      for (const { owner: at, bytes, change } of steps) {
        const owner = owners[at]!
        const now = { used: bytes, gone: 0, shrunk: Math.min(bytes, owner.heldBytes) }[change]
        owner.heldBytes = now ?? 0
        if (change === 'gone') held.forget(owner)
        else if (change === 'shrunk') held.shrunk(owner)
        else held.used(owner)
        const sum = owners.reduce((all, { heldBytes }) => all + heldBytes, 0)
        if (sum !== held.bytes || sum > 100) return false
        // Whoever was used last is the last to give way.
        if (change === 'used' && owner.heldBytes !== bytes) return false
      }
      return true
    }),
  )
})

t.test(
  'no more events are on their way than there is room for, and all get in, in order',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(15), { maxLength: 40 }), async (batches) => {
        const room = new EventSemaphore(10)
        let [inside, alone] = [0, 0]
        const entered: number[] = []
        let isKept = true
        const all = batches.map((events, place) =>
          room.within(events, async () => {
            entered.push(place)
            inside += events
            alone++
            isKept &&= inside <= 10 || alone === 1 || inside - events === 0
            await new Promise(setImmediate)
            inside -= events
            alone--
            if (place % 7 === 3) throw new Error('not stored')
          }),
        )
        await Promise.allSettled(all)
        return isKept && room.waiting === 0 && entered.every((place, at) => place === at)
      }),
      { numRuns: 50 },
    )
  },
)
