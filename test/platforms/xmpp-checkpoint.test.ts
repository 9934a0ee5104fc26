/** The places up to which archives are read: one for the account, and one for each room, but not without end. */
import t from 'tap'
import { type Checkpoints, withCheckpoint } from '../../src/platforms/xmpp/checkpoint.ts'

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
