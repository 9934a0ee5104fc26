/** A chat with more updates than the memory of a delivery holds. */
import t from 'tap'
import { failure, ok, WebhookRig } from './rig.ts'

t.test('a chat with more updates than the memory holds delays no other', async (t) => {
  const rig = new WebhookRig(t, { maxConnections: 2 })
  let isBroken = true
  const laneOf: string[] = []
  rig.answer = (id) => (isBroken && laneOf[id] === 'broken' ? failure() : ok)
  const writing = async (lanes: readonly string[]) => {
    for (const lane of lanes) laneOf[101 + Object.keys(laneOf).length] = lane
    await rig.write(...lanes)
  }
  const many = Array.from({ length: 7_000 }, () => 'broken')
  await writing(['other', ...many, 'other', ...many, 'other'])
  const sentTo = (lane: string) => rig.sent.filter((id) => laneOf[id] === lane)
  for (let turn = 0; turn < 300 && sentTo('other').length < 3; turn++) {
    await rig.clock.advance(5)
  }
  t.same(sentTo('other'), [101, 7_102, 14_103])
  t.equal(rig.delivery.progress.waiting, 14_000)
  t.ok(JSON.stringify(rig.delivery.progress).length < 10_000, 'it is not stored one by one')
  // What the log deletes meanwhile is counted once the lane comes to it.
  for (let id = 14_093; id <= 14_102; id++) rig.deleted.add(id)
  const restarted = rig.delivery.progress
  isBroken = false
  await rig.clock.advance(60_000)
  for (let turn = 0; turn < 2_000 && rig.delivery.progress.waiting > 0; turn++) {
    await rig.clock.advance(10)
  }
  const ids = [...new Set(sentTo('broken'))]
  t.equal(ids.length, 13_990)
  t.same(
    ids,
    ids.toSorted((a, b) => a - b),
  )
  t.equal(rig.dropped, 10)
  t.equal(sentTo('other').length, 3)
  t.same(rig.delivery.progress, { cursor: 14_103, head: 14_103, waiting: 0, open: [] })
  // All of what a delivery before had left in the log may be gone.
  const next = new WebhookRig(t, { progress: restarted }, restarted.cursor)
  next.skipTo(14_103)
  await next.write('other')
  await next.clock.advance(2_000)
  t.same(next.sent, [14_104])
  const { cursor, waiting, open, long } = next.saved.at(-1) ?? {}
  t.same({ cursor, waiting, open, long }, { cursor: 14_104, waiting: 0, open: [], long: undefined })
  t.equal(next.dropped, restarted.long?.[0]?.[3])
})

t.test(
  'a page that comes after the end of a delivery is not counted, and stores nothing',
  async (t) => {
    const long = [['a', 101, 110, 10]] as const
    const progress = { cursor: 100, head: 110, waiting: 10, open: [101, 110], apart: [], long }
    // The second page is of the chat alone, the third of what has come.
    for (const last of [2, 3]) {
      const rig = new WebhookRig(t, { progress })
      rig.skipTo(110)
      const page = Promise.withResolvers<void>()
      rig.onRead = () => (rig.reads === last ? page.promise : Promise.resolve())
      await rig.settle()
      await rig.clock.advance(10)
      if (last === 3) await rig.write()
      t.equal(rig.reads, last)
      await rig.delivery.stop()
      const { dropped, saved } = rig
      const writes = saved.length
      page.resolve()
      await rig.settle()
      await rig.clock.advance(10)
      t.equal(saved.length, writes, `page ${last}`)
      t.equal(rig.dropped, dropped)
      t.equal(rig.reads, last)
    }
  },
)

t.test('what the log deletes of a chat is counted also where its beginning was read', async (t) => {
  const long = [['', 102, 110, 9]] as const
  const apart = [101, 101]
  const progress = { cursor: 100, head: 110, waiting: 10, open: [101, 110], apart, long }
  const rig = new WebhookRig(t, { progress })
  // Bodies were dropped to save memory.
  rig.skipTo(110)
  rig.deleted.clear()
  rig.onRead = async () => {
    if (rig.reads > 3) for (let id = 101; id <= 110; id++) rig.deleted.add(id)
  }
  await rig.settle()
  await rig.clock.advance(100)
  t.same(rig.sent, [])
  t.equal(rig.delivery.progress.cursor, 110)
  // The deletion itself counts what waits apart.
  t.equal(rig.dropped, 9)
})
