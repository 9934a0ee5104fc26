/** The timeline in the database: each line once, and counted when it repeats itself. */

import t from 'tap'
import type { Transition } from '../../actors/ports/ports.ts'
import type { Reason } from '../../machines/model/reason.ts'
import { TimelineBuffer } from '../../src/credentials/timeline.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'

t.test('a repeated line is counted where it was written last', async (t) => {
  const { database: db } = await testDatabase(t)
  const [row] = await db.query<{ id: number }>(
    `with owner as (
       insert into app_user (phone_index, phone_sealed) values ('\\x01', '') returning id)
     insert into credential (user_id, platform, native_id, account)
     select id, 'fake', 'a', '{}' from owner returning id`,
  )
  const timeline = new TimelineBuffer(db, 'test', quietLogger)
  const began = Date.parse('2030-01-01T00:00:00Z')
  const add = (second: number, to: string, reason?: Reason, more: object = {}) =>
    timeline.add({
      credentialId: row!.id,
      epoch: 0,
      at: began + second * 1000,
      from: to === 'waiting' ? 'live.starting' : 'waiting',
      to,
      event: 'session.lost',
      reason,
      durationMs: second,
      publicState: 'connecting',
      action: 'wait',
      limitedUntil: undefined,
      ...more,
    } satisfies Transition)
  const repeat = { isRepeat: true }
  const lines = async () => {
    await timeline.flush()
    return db.query(
      'select to_state, reason, count, last_at, duration_ms from credential_transition order by id',
    )
  }

  add(0, 'waiting', 'network')
  add(1, 'queued')
  add(2, 'waiting', 'network', repeat)
  add(3, 'queued', undefined, repeat)
  const at = (second: number) => new Date(began + second * 1000)
  t.match(await lines(), [
    { to_state: 'waiting', reason: 'network', count: 2, last_at: at(2), duration_ms: 2 },
    { to_state: 'queued', reason: null, count: 2, last_at: at(3) },
  ])

  add(4, 'waiting', 'network', repeat)
  add(5, 'waiting', 'network', repeat)
  await timeline.flush()
  add(60, 'waiting', 'network')
  t.match(await lines(), [{ count: 4, last_at: at(5) }, { count: 2 }, { count: 1, last_at: null }])
  add(61, 'waiting', 'network', repeat)
  t.match(await lines(), [{ count: 4 }, { count: 2 }, { count: 2, last_at: at(61) }])
  const [record] = await db.query('select machine_state, reason from credential')
  t.match(record, { machine_state: 'waiting', reason: 'network' }, 'the record is the newest')
})
