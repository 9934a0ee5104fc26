/** Writes the timelines of credentials, notifies live watchers, and keeps old timelines short. */

import { EventEmitter } from 'node:events'
import { LRUCache } from 'lru-cache'
import type { CredentialFacts, Logger, Owned, Transition } from '../../actors/ports/ports.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { Database, Queryable } from '../database/database.ts'
import { type Mark, markStored, WriteBuffer } from '../database/write-behind.ts'
import type { Bus } from '../nodes/bus.ts'
import { type Fenced, fencedRows, ownedRows } from './fence.ts'

/**
 * The number of newest lines kept for each account: weeks for an account that fails every few minutes, years for
 * others.
 */
const LINES_KEPT = 1_000
const AT_ONCE = 5_000
const ACCOUNTS_AT_ONCE = 100

/** Some accounts after others, in steps that are short of any time limit. */
export async function retainTimelines(db: Queryable, kept = LINES_KEPT): Promise<void> {
  let after = 0
  while (true) {
    const accounts = await db.query<{ id: number }>(
      `select id from credential where id > $1 and deactivated_at is null
        order by id limit ${ACCOUNTS_AT_ONCE}`,
      [after],
    )
    const last = accounts.at(-1)
    if (!last) return
    after = last.id
    const ids = accounts.map(({ id }) => id)
    while ((await removeOldLines(db, ids, kept)) === AT_ONCE);
  }
}

async function removeOldLines(
  db: Queryable,
  ids: readonly number[],
  kept: number,
): Promise<number> {
  const gone = await db.query(
    `delete from credential_transition where id in (
       select line.id from unnest($1::bigint[]) as account (id)
        cross join lateral (
          select id from credential_transition where credential_id = account.id
           order by id desc offset $2) as line
        limit ${AT_ONCE}) returning 1`,
    [ids, kept],
  )
  return gone.length
}

export class TimelineBuffer {
  readonly #buffer: WriteBuffer<Transition>
  readonly #watchers = new EventEmitter<
    Record<`${number}` | 'any', [Transition]>
  >().setMaxListeners(0)
  readonly #gaps = new EventEmitter<{ gap: [] }>().setMaxListeners(0)

  /** `fenced` is called with credentials that another node has claimed. */
  constructor(db: Database, node: string, logger: Logger, fenced: Fenced = () => undefined) {
    this.#buffer = new WriteBuffer<Transition>({
      everyMs: 50,
      capacity: 100_000,
      write: async (transitions, mark) => {
        const lost = await writeTransitions(db, node, transitions, mark)
        if (lost.length > 0) fenced(lost)
      },
      rows: 'timelines',
      logger,
    })
  }

  add(transition: Transition): void {
    this.#buffer.add(transition)
    this.#watchers.emit(`${transition.credentialId}`, transition)
    this.#watchers.emit('any', transition)
  }

  /** Calls back at every change of one credential; returns how to stop. */
  watch(credentialId: number, listener: (transition: Transition) => void): () => void {
    this.#watchers.on(`${credentialId}`, listener)
    return () => this.#watchers.off(`${credentialId}`, listener)
  }

  /** Calls back at every change of any credential; returns how to stop. */
  watchAll(listener: (transition: Transition) => void): () => void {
    this.#watchers.on('any', listener)
    return () => this.#watchers.off('any', listener)
  }

  /** Another node has stored this transition, so only watchers of all credentials are notified. */
  heard(transition: Transition): void {
    this.#watchers.emit('any', transition)
  }

  /** Changes at other nodes may have been missed. */
  missed(): void {
    this.#gaps.emit('gap')
  }

  /** Calls back after changes may have been missed; returns how to stop. */
  onMissed(listener: () => void): () => void {
    this.#gaps.on('gap', listener)
    return () => this.#gaps.off('gap', listener)
  }

  flush(): Promise<void> {
    return this.#buffer.flush()
  }
}

/**
 * A part of the statement that claims. `$1` and `$2` are the name and the incarnation of the new owner, `marked` has
 * the claimed accounts with their `former` owner. It writes two lines for each account of another node, unless that
 * node had ended before this one began: then one process only replaced the other.
 */
export const moveLines = `
    insert into credential_transition
      (credential_id, at, from_state, to_state, event, duration_ms, actor, node, other_node)
    select m.id, clock_timestamp(), m.machine_state, m.machine_state, line.event, 0,
           'node:' || line.node, line.node, line.other
      from marked m
     cross join lateral (values (1, 'owner.lost', m.former, $1::text),
                                (2, 'owner.gained', $1::text, m.former))
                        line (place, event, node, other)
     where m.former <> $1 and m.deleting_at is null and exists (
       select from node n, node self
        where self.id = $2 and n.name = m.former and n.id <> self.id
          and coalesce(n.ended_at, 'infinity') > self.started_at)
     order by m.id, line.place`

/**
 * Stores every line, but only the owner's state in the row. Resolves with the credentials that another node has
 * claimed.
 */
async function writeTransitions(
  db: Database,
  node: string,
  transitions: readonly Transition[],
  mark: Mark,
): Promise<Owned[]> {
  const newest = [...new Map(transitions.map((one) => [one.credentialId, one])).values()]
  return db.transaction(async (tx) => {
    const unstored = transitions.slice(await markStored(tx, mark, transitions.length))
    await writeLines(
      tx,
      node,
      unstored.filter(({ isRepeat }) => !isRepeat),
    )
    const repeats = unstored.filter(({ isRepeat }) => isRepeat)
    if (repeats.length > 0) await countRepeats(tx, repeats)
    return tx.query<Owned>(
      `with ${ownedRows('$1', '$8', 'no key update')}, moved as (
       update credential c
          set machine_state = t.machine_state, state = t.state, reason = t.reason,
              action = t.action, limited_until = t.limited_until,
              online_since = case when t.state = 'active' and c.state = 'active' then c.online_since
                                  when t.state = 'active' then t.at end
         from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[],
                     $6::timestamptz[], $7::timestamptz[])
              as t (credential_id, machine_state, state, reason, action, limited_until, at)
        where c.id = t.credential_id and c.deleting_at is null
          and exists (select from owned where owned.id = c.id))
       ${fencedRows('$1', '$8')}`,
      [
        newest.map((one) => one.credentialId),
        newest.map((one) => one.to),
        newest.map((one) => one.publicState),
        newest.map((one) => one.reason ?? null),
        newest.map((one) => one.action),
        newest.map((one) => (one.limitedUntil === undefined ? null : new Date(one.limitedUntil))),
        newest.map((one) => new Date(one.at)),
        newest.map((one) => one.epoch),
      ],
    )
  })
}

/** The columns that the statements below unnest. */
const columnsOf = (transitions: readonly Transition[]) => [
  transitions.map((one) => one.credentialId),
  transitions.map((one) => new Date(one.at)),
  transitions.map((one) => one.from),
  transitions.map((one) => one.to),
  transitions.map((one) => one.event),
  transitions.map((one) => one.reason ?? null),
  transitions.map((one) => Math.round(one.durationMs)),
]

async function writeLines(
  tx: Queryable,
  node: string,
  lines: readonly Transition[],
): Promise<void> {
  await tx.query(
    `insert into credential_transition
       (credential_id, at, from_state, to_state, event, reason, duration_ms, actor, node)
     select t.credential_id, t.at, t.from_state, t.to_state, t.event, t.reason, t.duration_ms,
            'credential:' || t.credential_id, $8
       from unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],
                   $6::text[], $7::bigint[])
            as t (credential_id, at, from_state, to_state, event, reason, duration_ms)
       join credential c on c.id = t.credential_id`,
    [...columnsOf(lines), node],
  )
}

/** Each is counted where its line was written last. */
async function countRepeats(tx: Queryable, repeats: readonly Transition[]): Promise<void> {
  await tx.query(
    `with repeated as (
       select credential_id, from_state, to_state, event, reason, count(*)::int as times,
              max(at) as at, (array_agg(duration_ms order by at desc))[1] as duration_ms
         from unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],
                     $6::text[], $7::bigint[])
              as t (credential_id, at, from_state, to_state, event, reason, duration_ms)
        group by credential_id, from_state, to_state, event, reason
     )
     update credential_transition line
        set count = line.count + r.times, last_at = r.at, duration_ms = r.duration_ms
       from repeated r
      where line.id = (
        select id from credential_transition c
         where c.credential_id = r.credential_id and c.from_state = r.from_state
           and c.to_state = r.to_state and c.event = r.event
           and c.reason is not distinct from r.reason
         order by id desc limit 1)`,
    columnsOf(repeats),
  )
}

const MOST_ELSEWHERE = 100_000

/**
 * Tells other nodes of changes, for panels that watch all accounts of a user, and watchers here of theirs. Returns the
 * user of a credential that runs, here or there.
 */
export function shareTransitions(
  timeline: TimelineBuffer,
  factsOf: (credentialId: number) => CredentialFacts | undefined,
  bus: Pick<Bus, 'tell' | 'on' | 'onGap'> | undefined,
): (credentialId: number) => number | undefined {
  const elsewhere = new LRUCache<number, number>({
    maxSize: MOST_ELSEWHERE,
    sizeCalculation: () => 1,
  })
  bus?.on('transition', (hint) => {
    const { userId, ...transition } = hint as unknown as Transition & { readonly userId: number }
    elsewhere.set(transition.credentialId, userId)
    timeline.heard(transition)
  })
  bus?.onGap(() => timeline.missed())
  timeline.watchAll((transition) => {
    const userId = factsOf(transition.credentialId)?.userId
    if (userId !== undefined) bus?.tell('transition', { ...transition, userId } as unknown as Json)
  })
  return (credentialId) => factsOf(credentialId)?.userId ?? elsewhere.get(credentialId)
}
