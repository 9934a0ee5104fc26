/** The live sessions of this process and the requests that wait for a change: wakes both, and reads queues for sessions. */

import type { Logger } from '../../../actors/ports/ports.ts'
import type { Queryable } from '../../database/database.ts'
import type { Wake } from '../network/context.ts'
import type { QueuedMessage } from '../network/rows.ts'
import { type EventPage, type EventReader, readEventPage } from './event-page.ts'
import type { Faults } from './faults.ts'
import { findSessions, hashToken, type SessionRecord } from './sessions.ts'

const READS_AT_ONCE = 4
const ACKNOWLEDGE_AFTER_MS = 1_000

export type SessionEnd = 'connection_lost' | 'replaced' | 'revoked' | 'banned'

/** One linked device that is online. */
export interface LinkedSession {
  readonly reader: EventReader
  /** Events were queued: the session reads on. It need not read those that are given. */
  wake(messages?: readonly QueuedMessage[]): void
  faultsChanged(faults: Faults): void
  end(why: SessionEnd): void
  /** Reads whether it still stands, and its faults: news of them may have been missed, or come late. */
  look(): void
}

/** News for the sessions at other nodes. */
export type HubNews =
  | { readonly kind: 'woken'; readonly people: readonly number[] }
  | { readonly kind: 'faults'; readonly person: number; readonly faults: Faults }
  | { readonly kind: 'end'; readonly person: number; readonly why: SessionEnd }

export class Hub {
  readonly #db: Queryable
  /** Notifies the other nodes; a lost hint only delays. */
  readonly #announce: (news: HubNews) => void
  readonly #acknowledgements: Acknowledgements
  readonly #stored: ReturnType<typeof findSessions>
  readonly #sessions = new Map<number, Set<LinkedSession>>()
  readonly #waitingToRead: (() => void)[] = []
  #reading = 0
  #news = 0
  #changed: PromiseWithResolvers<void> | undefined

  constructor(db: Queryable, logger: Logger, announce: (news: HubNews) => void = () => undefined) {
    this.#db = db
    this.#announce = announce
    this.#acknowledgements = new Acknowledgements(db, logger)
    this.#stored = findSessions(db)
  }

  find(token: string): Promise<SessionRecord | undefined> {
    return this.#stored.run(hashToken(token).toString('hex'))
  }

  add(session: LinkedSession) {
    const { person } = session.reader
    const sessions = this.#sessions.get(person) ?? new Set()
    this.#sessions.set(person, sessions.add(session))
  }

  remove(session: LinkedSession) {
    const { person } = session.reader
    const sessions = this.#sessions.get(person)
    sessions?.delete(session)
    if (sessions?.size === 0) this.#sessions.delete(person)
  }

  of(person: number): readonly LinkedSession[] {
    return [...(this.#sessions.get(person) ?? [])]
  }

  /** Call it after a change: the sessions of these people read on, and every waiting request looks again. */
  readonly wake: Wake = (people, messages) => {
    this.#wakeHere(people, messages)
    this.#announce({ kind: 'woken', people })
  }

  /** The number of news that sessions are told once: one that is not added yet misses them. */
  get news(): number {
    return this.#news
  }

  faultsChanged(person: number, faults: Faults): void {
    this.#news++
    for (const session of this.of(person)) session.faultsChanged(faults)
    this.#announce({ kind: 'faults', person, faults })
  }

  endSessions(person: number, why: SessionEnd): void {
    this.#news++
    for (const session of this.of(person)) session.end(why)
    this.#announce({ kind: 'end', person, why })
  }

  /** From another node. */
  heard(news: HubNews): void {
    if (news.kind === 'woken') {
      this.#wakeHere(news.people)
      return
    }
    this.#news++
    for (const one of this.of(news.person)) {
      if (news.kind === 'faults') one.faultsChanged(news.faults)
      else if (news.why === 'connection_lost') one.end(news.why)
      // It may have begun since.
      else one.look()
    }
  }

  #wakeHere(people: readonly number[], messages: readonly QueuedMessage[] = []): void {
    const byPerson = Map.groupBy(messages, ({ person }) => person)
    for (const person of people) {
      for (const session of this.of(person)) session.wake(byPerson.get(person))
    }
    this.#wakeWaiting()
  }

  /** For changes whose writer could not wake the readers because the database failed. */
  wakeAll() {
    this.#news++
    for (const session of [...this.#sessions.values()].flatMap((sessions) => [...sessions])) {
      session.wake()
      session.look()
    }
    this.#wakeWaiting()
  }

  #wakeWaiting() {
    this.#changed?.resolve()
    this.#changed = undefined
  }

  /** A thousand sessions may wake at once: few of them read at a time, or they would take all connections of the pool. */
  async read(reader: EventReader, after: number): Promise<EventPage> {
    if (this.#reading >= READS_AT_ONCE) {
      await new Promise<void>((resolve) => this.#waitingToRead.push(resolve))
    }
    this.#reading += 1
    try {
      return await readEventPage(this.#db, reader, after)
    } finally {
      this.#reading -= 1
      this.#waitingToRead.shift()?.()
    }
  }

  /** The session has stored its events up to `seq`. */
  acknowledge(session: number, seq: number) {
    this.#acknowledgements.add(session, seq)
  }

  flush(): Promise<void> {
    return this.#acknowledgements.flush()
  }

  /** Looks now and after each change. Resolves with what it finds, or with null once the signal has aborted. */
  async until<Found>(
    look: () => Promise<Found | null>,
    signal: AbortSignal,
  ): Promise<Found | null> {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const stop = () => resolve()
    signal.addEventListener('abort', stop, { once: true })
    try {
      for (;;) {
        this.#changed ??= Promise.withResolvers<void>()
        const changed = this.#changed.promise
        const found = await look()
        if (found !== null || signal.aborted) return found
        await Promise.race([changed, over])
      }
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }
}

const store = {
  name: 'sandbox_acknowledge',
  text: `with confirmed as (select * from unnest($1::bigint[], $2::bigint[]) as c (id, seq))
    update sandbox_session s set acknowledged = greatest(s.acknowledged, confirmed.seq)
    from confirmed where s.id = confirmed.id
    returning s.person_id`,
}

/** An event is deleted once all devices of its person have it. */
const cut = {
  name: 'sandbox_cut',
  text: `delete from sandbox_event e
    using (select person_id, min(acknowledged) as seq from sandbox_session
      where ended is null and person_id = any($1::bigint[]) group by person_id) confirmed
    where e.person_id = confirmed.person_id and e.seq <= confirmed.seq`,
}

/** The positions of sessions, written together after a moment. */
class Acknowledgements {
  readonly #db: Queryable
  readonly #logger: Logger
  #positions = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(db: Queryable, logger: Logger) {
    this.#db = db
    this.#logger = logger
  }

  add(session: number, seq: number) {
    this.#positions.set(session, seq)
    this.#timer ??= setTimeout(() => this.flush(), ACKNOWLEDGE_AFTER_MS).unref()
  }

  /** A failure costs only space: the next position of the session includes this one. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#positions.size === 0) return
    const positions = this.#positions
    this.#positions = new Map()
    const values = [[...positions.keys()], [...positions.values()]]
    try {
      const people = await this.#db.query<{ person_id: number }>(store, values)
      await this.#db.query(cut, [people.map((row) => row.person_id)])
    } catch (error) {
      this.#logger.warn({ err: error }, 'the sandbox could not cut its queues')
    }
  }
}
