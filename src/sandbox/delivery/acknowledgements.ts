/** How far sessions have committed: stored a little later and together, after which the queue is cut. */
import type { Queryable } from '../../database/database.ts'
import type { Log } from '../../database/log.ts'

const DELAY_MILLISECONDS = 1_000

const store = {
  name: 'sandbox_acknowledge',
  text: `with confirmed as (select * from unnest($1::bigint[], $2::bigint[]) as c (id, seq))
    update sandbox_session s set acknowledged = greatest(s.acknowledged, confirmed.seq)
    from confirmed where s.id = confirmed.id
    returning s.person_id`,
}

/** An event goes when all devices of its person have it. */
const cut = {
  name: 'sandbox_cut',
  text: `delete from sandbox_event e
    using (select person_id, min(acknowledged) as seq from sandbox_session
      where ended is null and person_id = any($1::bigint[]) group by person_id) confirmed
    where e.person_id = confirmed.person_id and e.seq <= confirmed.seq`,
}

export class Acknowledgements {
  readonly #db: Queryable
  readonly #log: Log
  #confirmed = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(db: Queryable, log: Log) {
    this.#db = db
    this.#log = log
  }

  confirm(session: number, seq: number) {
    this.#confirmed.set(session, seq)
    this.#timer ??= setTimeout(() => this.flush(), DELAY_MILLISECONDS).unref()
  }

  /** A failure costs nothing but space: the next one confirms more. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#confirmed.size === 0) return
    const confirmed = this.#confirmed
    this.#confirmed = new Map()
    const values = [[...confirmed.keys()], [...confirmed.values()]]
    try {
      const people = await this.#db.query<{ person_id: number }>(store, values)
      await this.#db.query(cut, [people.map((row) => row.person_id)])
    } catch (error) {
      this.#log.warn({ err: error }, 'the sandbox could not cut its queues')
    }
  }
}
