/** All live sessions of this process: wakes them, reads for them a few at a time, and stores what they confirmed. */
import type { Queryable } from '../../database/database.ts'
import type { Log } from '../../database/log.ts'
import type { Faults } from '../people/faults.ts'
import { Acknowledgements } from './acknowledgements.ts'
import { type Page, type Reader, readPage } from './happenings.ts'

const READS_AT_ONCE = 4

export interface Connected {
  readonly reader: Reader
  /** Something is queued: read on. */
  stir(): void
  faultsChanged(faults: Faults): void
}

export class Hub<Session extends Connected = Connected> {
  readonly acknowledgements: Acknowledgements
  readonly #db: Queryable
  readonly #sessions = new Map<number, Set<Session>>()
  readonly #waitingToRead: (() => void)[] = []
  #reading = 0

  constructor(db: Queryable, log: Log) {
    this.#db = db
    this.acknowledgements = new Acknowledgements(db, log)
  }

  add(session: Session) {
    const { person } = session.reader
    const sessions = this.#sessions.get(person) ?? new Set()
    this.#sessions.set(person, sessions.add(session))
  }

  remove(session: Session) {
    const { person } = session.reader
    const sessions = this.#sessions.get(person)
    sessions?.delete(session)
    if (sessions?.size === 0) this.#sessions.delete(person)
  }

  of(person: number): readonly Session[] {
    return [...(this.#sessions.get(person) ?? [])]
  }

  wake(people: readonly number[]) {
    for (const person of people) for (const session of this.of(person)) session.stir()
  }

  /** Nobody may have been woken for what was written while the database was in trouble. */
  wakeAll() {
    for (const sessions of this.#sessions.values()) for (const session of sessions) session.stir()
  }

  /** A thousand sessions woken at once share the few connections of the pool with everyone else. */
  async read(reader: Reader, after: number): Promise<Page> {
    if (this.#reading >= READS_AT_ONCE) {
      await new Promise<void>((resolve) => this.#waitingToRead.push(resolve))
    }
    this.#reading += 1
    try {
      return await readPage(this.#db, reader, after)
    } finally {
      this.#reading -= 1
      this.#waitingToRead.shift()?.()
    }
  }
}
