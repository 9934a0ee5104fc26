/** The lease of a node and the permits of its sessions, with a clock that stands still and one that jumps. */
import t from 'tap'
import { Lease, SessionPermit, SteadyTime } from '../../../actors/node/lease.ts'
import { settled, TestClock } from '../../support/clock.ts'

const LEASE_MS = 7_000

function hold() {
  const clock = new TestClock()
  const lease = new Lease(clock)
  let ends = 0
  lease.onEnd(() => ends++)
  return { clock, lease, ends: () => ends }
}

/** A beat and a question that were sent at this time are answered. */
function renew(lease: Lease, askedAt = lease.now()) {
  lease.confirmed(askedAt)
  lease.heard(askedAt)
}

/** A process that can stand still: its timers come late then, one after the other. */
function stalling() {
  let now = 0
  let due: { readonly at: number; readonly work: () => void } | undefined
  const lease = new Lease({
    now: () => now,
    steadyNow: () => now,
    setTimeout(work, milliseconds) {
      due = { at: now + milliseconds, work }
      return 0
    },
    clearTimeout() {
      due = undefined
    },
  })
  const permit = new SessionPermit(lease, true)
  let ended = 0
  permit.onEnd(() => ended++)
  /** The next timer comes so late. */
  const look = (lateMs: number) => {
    const { at = 0, work } = due ?? {}
    due = undefined
    now = at + lateMs
    work?.()
  }
  return { lease, permit, look, ended: () => ended }
}

t.test('it ends seven seconds after the question that was answered last', async (t) => {
  const { clock, lease, ends } = hold()
  await clock.advance(3_000)
  const askedAt = lease.now()
  await clock.advance(2_000)
  renew(lease, askedAt)
  await clock.advance(4_999)
  t.ok(lease.isValid)
  t.equal(ends(), 0)
  await clock.advance(1)
  t.notOk(lease.isValid)
  t.equal(ends(), 1)
  await clock.advance(60_000)
  t.equal(ends(), 1, 'told once')
  renew(lease)
  await clock.advance(LEASE_MS)
  t.equal(ends(), 2, 'and again when it ends again')
  t.equal(clock.timers, 0)
})

t.test('an answer that took longer than the lease renews nothing', async (t) => {
  const { clock, lease, ends } = hold()
  const askedAt = lease.now()
  await clock.advance(LEASE_MS)
  let isValid = false
  lease.valid().then(() => (isValid = true))
  renew(lease, askedAt)
  await settled()
  t.notOk(lease.isValid)
  t.notOk(isValid)
  t.equal(ends(), 1)
  renew(lease)
  await settled()
  t.ok(isValid)
  lease.stop()
  t.equal(clock.timers, 0)
})

t.test('a session that may share waits while the node is in doubt, and then goes on', async (t) => {
  const { clock, lease } = hold()
  const permit = new SessionPermit(lease, false)
  await clock.advance(LEASE_MS)
  t.notOk(permit.isValid)
  let isValid = false
  permit.valid().then(() => (isValid = true))
  await settled()
  t.notOk(isValid)
  renew(lease)
  await settled()
  t.ok(isValid)
  t.ok(permit.isValid)
  lease.stop()
})

t.test('what waits is not written once the session is over', async (t) => {
  const { clock, lease } = hold()
  const permit = new SessionPermit(lease, false)
  await clock.advance(LEASE_MS)
  const waiting = permit.valid()
  permit.end()
  renew(lease)
  await t.rejects(waiting)
  t.notOk(permit.isValid)
  await t.rejects(permit.valid())
  let ended = 0
  permit.onEnd(() => ended++)
  t.equal(ended, 1, 'who asks later is told at once')
  lease.stop()
})

t.test('an exclusive session ends with the lease, for good', async (t) => {
  const { clock, lease } = hold()
  const permit = new SessionPermit(lease, true)
  let ended = 0
  permit.onEnd(() => ended++)
  await clock.advance(LEASE_MS - 1)
  t.equal(ended, 0)
  await clock.advance(1)
  t.equal(ended, 1)
  renew(lease)
  t.ok(lease.isValid)
  t.notOk(permit.isValid)
  await t.rejects(permit.valid())
  lease.stop()
})

t.test('it needs both: that beats count, and what this node owns', async (t) => {
  for (const [name, other] of [
    ['heard', 'confirmed'],
    ['confirmed', 'heard'],
  ] as const) {
    const { clock, lease, ends } = hold()
    await clock.advance(6_900)
    lease[name](lease.now())
    await clock.advance(100)
    t.notOk(lease.isValid, `${name} alone`)
    t.equal(ends(), 1)
    lease[other](lease.now() - 50)
    t.ok(lease.isValid)
    lease.stop()
  }
})

t.test('a process that stood still writes nothing, and goes on if it still counts', async (t) => {
  const { lease, permit, look, ended } = stalling()
  look(20_000)
  t.notOk(permit.isValid)
  let mayWrite = false
  const written = permit.valid().then(() => {
    mayWrite = true
  })
  await settled()
  t.notOk(mayWrite)
  t.equal(ended(), 0, 'the answers that have come meanwhile are not read yet')
  renew(lease)
  await written
  t.ok(permit.isValid)
  look(0)
  t.equal(ended(), 0)
})

t.test('it ends the session where no answer has come half a second later', async (t) => {
  const { permit, look, ended } = stalling()
  look(20_000)
  const written = permit.valid()
  look(0)
  t.equal(ended(), 1)
  await t.rejects(written)
})

t.test('or where it stands still again and again', async (t) => {
  const { lease, look, ended } = stalling()
  look(20_000)
  for (const more of [0, 0]) {
    look(3_000)
    t.equal(ended(), more)
  }
  renew(lease, lease.now() - 6_999)
  t.ok(lease.isValid, 'then the count begins anew')
  for (const more of [0, 0, 0]) {
    look(9_000)
    t.equal(ended(), more)
  }
  look(3_000)
  t.equal(ended(), 1)
})

t.test('a pause of the whole machine counts as time, and small differences do not', async (t) => {
  const [even, ofDay] = [{ now: 1_000 }, { now: 1_700_000_000_000 }]
  const time = new SteadyTime(
    () => even.now,
    () => ofDay.now,
  )
  const pass = (evenMs: number, ofDayMs: number) => {
    even.now += evenMs
    ofDay.now += ofDayMs
    return time.now()
  }
  t.equal(pass(250, 250), 1_250)
  for (let i = 0; i < 100; i++) pass(250, 251)
  t.equal(time.now(), 26_250, 'clocks that drift apart slowly')
  t.equal(pass(250, 2_250), 26_500, 'no jump yet')
  t.equal(pass(0, 3_600_000), 26_500 + 3_600_000, 'suspended for an hour')
  t.equal(pass(250, 250), 3_626_750, 'and on from there')
  t.equal(pass(0, -5_000), 3_631_750, 'nobody can tell what a clock that was set back means')
})
