/** Health is written when it changes, and seldom while it does not: that would be most of all writes. */
import t from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import { HealthBuffer, Irregularities } from '../../src/credentials/health.ts'
import type { Database } from '../../src/database/database.ts'
import { quietLogger } from '../support/logger.ts'

const MINUTE = 60_000
const owned = { credentialId: 1, epoch: 3 }

function buffer() {
  const rows: {
    id: number
    healthy: boolean
    at: number
    latency: number | null
    event: number | null
  }[] = []
  const timeOf = (date: Date | null) => date?.getTime() ?? null
  const query = async (
    _: unknown,
    [ids, healthy, at, latency, events]: [
      number[],
      boolean[],
      Date[],
      (number | null)[],
      (Date | null)[],
    ],
  ) => {
    for (const [n, id] of ids.entries()) {
      rows.push({
        id,
        healthy: healthy[n]!,
        at: at[n]!.getTime(),
        latency: latency[n]!,
        event: timeOf(events[n]!),
      })
    }
    return []
  }
  const health = new HealthBuffer({ query } as unknown as Database, quietLogger)
  /** The rows that were written since the last call. */
  const written = async () => {
    await health.flush()
    return rows.splice(0)
  }
  return { health, written }
}

const probe = (at: number, healthy = true, latencyMs = 5) => ({ healthy, at, latencyMs })

t.test('an account that stays healthy is written each quarter of an hour', async (t) => {
  const { health, written } = buffer()
  health.add(owned, probe(0))
  t.same(await written(), [{ id: 1, healthy: true, at: 0, latency: 5, event: null }])
  let writes = 0
  for (let minute = 1; minute <= 60; minute++) {
    health.add(owned, probe(minute * MINUTE))
    writes += (await written()).length
  }
  t.equal(writes, 4, 'of an hour with 60 probes')
})

t.test('a change is written at once', async (t) => {
  const { health, written } = buffer()
  health.add(owned, probe(0))
  await written()
  health.add(owned, { healthy: false, at: 1_000 })
  t.match(await written(), [{ healthy: false, at: 1_000, latency: 5 }])
  health.add(owned, { healthy: false, at: 2_000 })
  t.same(await written(), [])
  health.add(owned, probe(3_000, true, 9))
  t.match(await written(), [{ healthy: true, at: 3_000, latency: 9 }])
  health.add({ ...owned, epoch: 4 }, probe(4_000))
  t.match(await written(), [{ at: 4_000 }], 'and the first word of a new owner')
})

t.test('the time of the last event is written each minute', async (t) => {
  const { health, written } = buffer()
  health.add(owned, { healthy: true, at: 0 })
  t.match(await written(), [{ event: 0, latency: null }])
  health.add(owned, probe(500, true, 7))
  t.match(await written(), [{ event: 0, latency: 7 }], 'the first latency')
  let writes = 0
  for (let second = 1; second <= 180; second++) {
    health.add(owned, { healthy: true, at: second * 1_000 })
    writes += (await written()).length
  }
  t.equal(writes, 3, 'of 180 events in as many seconds')
})

t.test('what is not due is there for a record that is read, and for the next owner', async (t) => {
  const { health, written } = buffer()
  const other = { credentialId: 2, epoch: 1 }
  for (const one of [owned, other]) health.add(one, probe(0))
  await written()
  for (const one of [owned, other]) health.add(one, probe(MINUTE, true, 8))
  t.same(await written(), [])
  health.release([1])
  t.match(await written(), [{ id: 1, at: MINUTE, latency: 8 }])
  health.release([1])
  t.same(await written(), [], 'once')
  health.release()
  t.match(await written(), [{ id: 2, at: MINUTE }])
  health.add(owned, probe(2 * MINUTE))
  health.forget([1])
  health.release()
  t.same(await written(), [], 'another node writes it by now')
})

t.test('events that a session reports twice or out of order are counted', async (t) => {
  const counted = new Irregularities()
  t.same(counted.of(1), { repeated: 0, disordered: 0 })
  const event = (sourceKey: string, at: number, recovered = false) =>
    ({ sourceKey, at, recovered }) as unknown as Happening
  counted.add(1, [event('a', 10), event('b', 10), event('c', 12)])
  t.same(counted.of(1), { repeated: 0, disordered: 0 })
  counted.add(1, [event('c', 12), event('d', 11), event('e', 5, true)])
  t.same(counted.of(1), { repeated: 1, disordered: 1 }, 'what is fetched after a gap is late')
  t.same(counted.of(2), { repeated: 0, disordered: 0 })
  counted.forget(1)
  t.same(counted.of(1), { repeated: 0, disordered: 0 })
})
