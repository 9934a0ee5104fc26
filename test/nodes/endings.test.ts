/** When a node that was declared gone can have no session any more. */
import t, { type Test } from 'tap'
import type { Database } from '../../src/database/database.ts'
import { Endings } from '../../src/nodes/endings.ts'
import { testDatabase } from '../support/database.ts'

interface Gone {
  readonly cause: 'crashed' | 'silent' | null
  readonly address?: string
  readonly agoMs: number
  /** How long the server has been up. */
  readonly serverMs?: number
  /** Whether the next owner is the only process that reaches the database. */
  readonly isSole?: boolean
}

const HOUR_MS = 3_600_000

async function scene(t: Test) {
  const { database: db } = await testDatabase(t)
  /** Resolves with the milliseconds for which the next owner waits. */
  return async (gone: Gone): Promise<number> => {
    const { cause, address, agoMs, serverMs = HOUR_MS, isSole } = gone
    await db.query('delete from node')
    await db.query(
      `insert into node (name, address, version, schema, state, ended_at, ended_by)
       values ('gone', $1, 'test', 'test', 'gone', clock_timestamp() - make_interval(secs => $2), $3)`,
      [address ?? null, agoMs / 1000, cause],
    )
    const [row] = await db.query<{ start: string }>(
      `select (clock_timestamp() - make_interval(secs => $1))::text as start`,
      [serverMs / 1000],
    )
    const start = `'${row?.start}'::timestamptz`
    const dated: Pick<Database, 'query'> = {
      query: (text, values) =>
        db.query(
          String(text)
            .replace('pg_postmaster_start_time()', start)
            .replace('select stats_reset from pg_stat_bgwriter', `select ${start}`),
          values,
        ),
    }
    const endings = new Endings(dated, isSole)
    const began = performance.now()
    await endings.forCertain()
    return performance.now() - began
  }
}

t.test('a node without an address is over half a second after its lock was free', async (t) => {
  const waits = await scene(t)
  const waited = await waits({ cause: 'crashed', agoMs: 0 })
  t.ok(waited > 400 && waited < 1_500, `${waited} ms`)
  t.ok((await waits({ cause: 'crashed', agoMs: 600 })) < 400)
})

t.test('locks that a restart of the server has freed do not stand for an end', async (t) => {
  const waits = await scene(t)
  // Such a node may trust itself for seven seconds after a beat that came just before the restart.
  const waited = await waits({ cause: 'crashed', agoMs: 600, serverMs: 8_000 })
  t.ok(waited > 1_900 && waited < 3_500, `${waited} ms`)
  t.ok((await waits({ cause: 'crashed', agoMs: 600, serverMs: 300 })) < 400, 'an earlier verdict')
})

t.test('a process that is the only one waits for no lease after such a restart', async (t) => {
  const waits = await scene(t)
  const waited = await waits({ cause: 'crashed', agoMs: 0, serverMs: 3_000, isSole: true })
  t.ok(waited > 400 && waited < 1_500, `${waited} ms`)
})

t.test('whoever was silent, or cannot be told to have ended, is waited for', async (t) => {
  const waits = await scene(t)
  const silent = await waits({ cause: 'silent', agoMs: 1_000 })
  t.ok(silent > 900 && silent < 2_000, `${silent} ms`)
  const unknown = await waits({ cause: null, agoMs: 9_000 })
  t.ok(unknown > 900 && unknown < 2_000, `${unknown} ms`)
  // Nothing listens there.
  const refused = await waits({ cause: 'crashed', address: 'https://127.0.0.1:9', agoMs: 600 })
  t.ok(refused < 400, `${refused} ms`)
})
