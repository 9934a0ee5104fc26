/** What is stored with an account: the places up to which archives are read, but not without end, and the rooms that it is out of. */
import t from 'tap'
import type { SessionReport } from '../../actors/ports/platform.ts'
import { SentRequests } from '../../src/platforms/kit/sent-requests.ts'
import { type Checkpoints, withCheckpoint } from '../../src/platforms/xmpp/checkpoint.ts'
import { Ledger } from '../../src/platforms/xmpp/ledger.ts'

const own = 'me@here.test'

t.test('of ever new rooms the longest silent ones are given up', async (t) => {
  let checkpoints: Checkpoints = new Map([[own, { mam: 'mine', at: 0 }]])
  for (let room = 1; room <= 1_000; room++) {
    checkpoints = withCheckpoint(checkpoints, `${room}@r.test`, { mam: 'x', at: room }, own)
  }
  t.equal(checkpoints.size, 1_001)
  checkpoints = withCheckpoint(checkpoints, '1@r.test', { mam: 'y', at: 2_000 }, own)
  checkpoints = withCheckpoint(checkpoints, 'new@r.test', { mam: 'x', at: 1 }, own)
  t.equal(checkpoints.size, 1_001)
  t.notOk(checkpoints.has('2@r.test'))
  for (const kept of [own, '1@r.test', '3@r.test', 'new@r.test']) {
    t.ok(checkpoints.has(kept), kept)
  }
})

t.test('a place is not later than now: what is said until then would be missed', (t) => {
  const now = Math.floor(Date.now() / 1000)
  const placed = (at: number) => withCheckpoint(new Map(), own, { mam: 'x', at }, own).get(own)?.at
  t.equal(placed(now - 60), now - 60)
  const ahead = placed(now + 120)
  t.ok(ahead !== undefined && ahead >= now && ahead < now + 30)
  t.end()
})

t.test('an account may be in a room again before it is stored that it was out', async (t) => {
  const stored = Promise.withResolvers<void>()
  const checkpoints: unknown[] = []
  const report = {
    async events(_, checkpoint) {
      checkpoints.push(checkpoint)
      await stored.promise
    },
  } as Partial<SessionReport> as SessionReport
  const ignore = () => undefined
  const start = { own, checkpoints: new Map(), invited: [], out: [], unarchived: [] }
  const ledger = new Ledger({ ...start, sent: new SentRequests() }, report, {
    ...{ found: ignore, receiptWanted: ignore, invited: ignore },
    ...{ recall: async () => [], measured: async (happenings) => happenings },
  })
  const before = ledger.mark(own, { mam: 'x', at: 1 })
  const out = ledger.noteOut('room@r.test')
  t.same(ledger.out, ['room@r.test'], 'whoever joins it anew has to take that back')
  const again = ledger.forgetOut('room@r.test')
  stored.resolve()
  await Promise.all([before, out, again])
  t.same(ledger.out, [])
  t.match(checkpoints, [{ out: undefined }, { out: ['room@r.test'] }, { out: undefined }])
})
