/** Writes the timelines of credentials, and tells those who watch live. */
import { EventEmitter } from 'node:events'
import type { Transition } from '../../actors/ports.ts'
import { WriteBuffer } from '../database/buffer.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'

export class TimelineBuffer {
  readonly #buffer: WriteBuffer<Transition>
  readonly #watchers = new EventEmitter<Record<`${number}`, [Transition]>>().setMaxListeners(0)

  constructor(db: Database, node: string, log: Log) {
    this.#buffer = new WriteBuffer<Transition>({
      everyMs: 50,
      capacity: 100_000,
      write: (transitions) => writeTransitions(db, node, transitions),
      onFailure: (err, kept) => log.warn({ err, kept }, 'timelines could not be written'),
    })
  }

  add(transition: Transition): void {
    this.#buffer.add(transition)
    this.#watchers.emit(`${transition.credentialId}`, transition)
  }

  /** Calls back at every change of one credential; returns how to stop. */
  watch(credentialId: number, listener: (transition: Transition) => void): () => void {
    this.#watchers.on(`${credentialId}`, listener)
    return () => this.#watchers.off(`${credentialId}`, listener)
  }

  flush(): Promise<void> {
    return this.#buffer.flush()
  }
}

async function writeTransitions(
  db: Database,
  node: string,
  transitions: readonly Transition[],
): Promise<void> {
  const newest = [...new Map(transitions.map((one) => [one.credentialId, one])).values()]
  await db.transaction(async (tx) => {
    await tx.query(
      `insert into credential_transition
         (credential_id, at, from_state, to_state, event, reason, duration_ms, actor, node)
       select t.credential_id, t.at, t.from_state, t.to_state, t.event, t.reason, t.duration_ms,
              'credential:' || t.credential_id, $8
         from unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],
                     $6::text[], $7::bigint[])
              as t (credential_id, at, from_state, to_state, event, reason, duration_ms)
         join credential c on c.id = t.credential_id`,
      [
        transitions.map((one) => one.credentialId),
        transitions.map((one) => new Date(one.at)),
        transitions.map((one) => one.from),
        transitions.map((one) => one.to),
        transitions.map((one) => one.event),
        transitions.map((one) => one.reason ?? null),
        transitions.map((one) => Math.round(one.durationMs)),
        node,
      ],
    )
    await tx.query(
      `with locked as (
         select id from credential where id = any($1) order by id for update)
       update credential c
          set machine_state = t.machine_state, state = t.state, reason = t.reason,
              action = t.action, limited_until = t.limited_until,
              online_since = case when t.state = 'active' and c.state = 'active' then c.online_since
                                  when t.state = 'active' then t.at end
         from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[],
                     $6::timestamptz[], $7::timestamptz[])
              as t (credential_id, machine_state, state, reason, action, limited_until, at)
        where c.id = t.credential_id and c.deactivated_at is null
          and exists (select from locked where locked.id = c.id)`,
      [
        newest.map((one) => one.credentialId),
        newest.map((one) => one.to),
        newest.map((one) => one.publicState),
        newest.map((one) => one.reason ?? null),
        newest.map((one) => one.action),
        newest.map((one) => (one.limitedUntil === undefined ? null : new Date(one.limitedUntil))),
        newest.map((one) => new Date(one.at)),
      ],
    )
  })
}
