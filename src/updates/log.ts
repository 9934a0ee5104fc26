/** The append-only update log of every credential this node owns: durable append, pokes, pages. */
import type { Appended, Owned, ReadUpdates, UpdateLog } from '../../actors/ports/ports.ts'
import type { Poll } from '../../machines/api-key/events.ts'
import { EventsUnstorable, failed, RequestFailed } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import { wants } from '../../machines/model/update-kinds.ts'
import type { Database } from '../database/database.ts'
import { failedOfItsValues, isIdentityConflict } from '../database/failures.ts'
import { type SharedStatements, sharedLookup } from '../database/write-behind.ts'
import { LATE_WRITES_MS } from '../database/write-watch.ts'
import type { NewChat, NewMessage } from '../identities/store.ts'
import { RecentKeys } from './commit.ts'
import { type CommitObserver, type Committed, GroupCommit } from './group-commit.ts'
import { type Bounds, boundsFor, EventSemaphore, HeldMemory, type Holder } from './held.ts'
import {
  cursorBefore,
  type Reader,
  type ReadRows,
  readPage,
  readRows,
  SharedPages,
} from './read.ts'
import type { Draft, Row } from './row.ts'
import { Tail } from './tail.ts'

export interface Translated {
  readonly drafts: readonly Draft[]
  /** New ids of these events, stored in the same commit. */
  readonly chats: readonly NewChat[]
  readonly messages: readonly NewMessage[]
  /** Call it once the commit has succeeded. */
  stored(): void
}

/** The port through which the update log turns events of a network into updates of the bot API. */
export interface Translation {
  /** Rejects with `OwnershipLost` when another node has claimed the credential. */
  drafts(owned: Owned, happenings: readonly Happening[]): Promise<Translated>
  /** Drops the cached ids of this credential. */
  forget(credentialId: number): void
}

class OpenLog implements Holder {
  readonly epoch: number
  /** False once another node has claimed it. */
  isOpen = true
  readonly tail: Tail
  /** Made by the first reader who is not the only one: most logs have a single key. */
  #shared: { updates: SharedPages<ReadUpdates>; rows: SharedPages<ReadRows> } | undefined
  /** Loaded by the first append of happenings: an idle credential costs nothing. */
  recent: RecentKeys | undefined = undefined
  /** When it was last written or read past; an idle log lets go of its memory. */
  usedAt = Date.now()
  /** When a commit failed last: it may be stored all the same. By the clock of `performance`. */
  doubtedAt: number | undefined
  /** Batches of one credential are stored one after another. */
  last: Promise<unknown>
  /** Each is poked for updates after this id. */
  readonly listeners: Map<Notify, number>

  /** `before`: the log of the same credential under another epoch. */
  constructor(epoch: number, next: number, before: OpenLog | undefined) {
    this.epoch = epoch
    this.tail = new Tail(next)
    // A write of the former owner that is under way must not share a commit with a new one.
    this.last = before?.last ?? Promise.resolve()
    this.listeners = before?.listeners ?? new Map()
  }

  get heldBytes(): number {
    const { updates, rows } = this.#shared ?? {}
    return this.tail.bytes + (this.recent?.bytes ?? 0) + (updates?.bytes ?? 0) + (rows?.bytes ?? 0)
  }

  /** The pages that its readers share; undefined where nobody else waits for the next update. */
  get shared() {
    if (this.listeners.size === 0) return this.#shared
    this.#shared ??= { updates: new SharedPages(), rows: new SharedPages() }
    return this.#shared
  }

  /** The tables have it all. */
  letGo(): void {
    this.tail.clear()
    this.recent = undefined
    this.#shared = undefined
  }
}

type Notify = () => void

interface LogObserver extends CommitObserver {
  /** Another node has claimed the credential, so this batch was not stored. */
  fenced?(): void
  received(credentialId: number, updates: number): void
}

/** The position of a log in its table. */
interface Position {
  readonly id: number
  readonly epoch: number
  readonly next: number
}

const LOOKED_AT_ONCE = 1_000

const positions = (db: Database, ids: readonly number[]) =>
  db.query<Position>(
    `select credential_id as id, epoch, next_update_id as next
       from credential_log where credential_id = any($1::bigint[])`,
    [ids],
  )

type Append = Parameters<UpdateLog['append']>[0]

export class PostgresUpdateLog implements UpdateLog {
  readonly #db: Database
  readonly #translation: Translation
  readonly #commits: GroupCommit
  readonly #observer: LogObserver
  readonly #logs = new Map<number, OpenLog>()
  readonly #held: HeldMemory<OpenLog>
  readonly #room: EventSemaphore
  readonly #positions: SharedStatements<number, Position | undefined>

  constructor(
    db: Database,
    translation: Translation,
    observer: LogObserver,
    bounds: Bounds = boundsFor(),
  ) {
    this.#db = db
    this.#translation = translation
    this.#observer = observer
    this.#commits = new GroupCommit(db, observer)
    this.#held = new HeldMemory(bounds.held)
    this.#room = new EventSemaphore(bounds.storing)
    this.#positions = sharedLookup(
      LOOKED_AT_ONCE,
      (ids) => positions(db, ids),
      ({ id }) => id,
    )
  }

  async open(credentialId: number, epoch?: number): Promise<void> {
    const known = this.#logs.get(credentialId)
    if (known?.isOpen && (epoch === undefined || known.epoch === epoch)) return
    const [row] = await this.#db.query<{ epoch: number; next_update_id: number }>(
      'select epoch, next_update_id from credential_log where credential_id = $1',
      [credentialId],
    )
    if (!row) throw failed('not_found')
    // Another call opened it meanwhile: this row may be older than that log.
    if (this.#logs.get(credentialId) !== known) return this.open(credentialId, epoch)
    this.opened(credentialId, row.epoch, row.next_update_id)
  }

  /** The same, for a caller that has read the facts already. */
  opened(credentialId: number, epoch: number, next: number): void {
    const known = this.#logs.get(credentialId)
    if (known) this.#held.forget(known)
    this.#logs.set(credentialId, new OpenLog(epoch, next, known))
    for (const [notify, after] of [...(known?.listeners ?? [])]) if (next - 1 > after) notify()
  }

  /**
   * Another node has claimed the credential: this node reads and writes nothing of it any more. A commit in progress
   * ends by itself; later commits wait for it if this node claims the credential back.
   */
  close(credentialId: number): void {
    const log = this.#logs.get(credentialId)
    if (!log) return
    log.isOpen = false
    this.#letGo(log)
    void log.last.then(() => {
      if (this.#logs.get(credentialId) === log) this.#logs.delete(credentialId)
    })
  }

  /** Retention took everything up to this id. */
  removed(credentialId: number, updateId: number): void {
    const log = this.#logs.get(credentialId)
    if (!log) return
    log.tail.removed(updateId)
    this.#held.shrunk(log)
  }

  /** Frees the memory of logs that were idle for so long. */
  forgetOld(idleMs: number): void {
    const before = Date.now() - idleMs
    for (const log of this.#logs.values()) if (log.usedAt <= before) this.#letGo(log)
  }

  /**
   * Looks for updates whose commit was not answered, and that nobody has handed in again: their session may have ended with the
   * connection to the database. Rejects where the database does not answer; the next call looks again.
   */
  async lookAgain(): Promise<void> {
    const looking = [...this.#logs].flatMap(([credentialId, log]) => {
      if (log.doubtedAt === undefined || !log.isOpen) return []
      // After the commits that are under way: their updates come with them.
      const looked = log.last.then(() => this.#look(credentialId, log))
      log.last = looked.catch(() => undefined)
      return [looked]
    })
    await Promise.all(looking)
  }

  /** Estimated bytes held in memory, and the number of batches that wait for room. */
  get load(): { readonly heldBytes: number; readonly waiting: number } {
    return { heldBytes: this.#held.bytes, waiting: this.#room.waiting }
  }

  next(credentialId: number): number {
    return this.#log(credentialId).tail.next
  }

  async append(batch: Append): Promise<Appended> {
    if (this.#logs.get(batch.credentialId)?.isOpen === false) return { stored: false }
    const log = this.#log(batch.credentialId)
    const store = () => this.#append(log, batch)
    const appended = log.last.then(() => this.#room.within(batch.happenings.length, store))
    log.last = appended.catch(() => undefined)
    return appended
  }

  read(credentialId: number, apiKeyId: number, poll: Poll): ReadUpdates | Promise<ReadUpdates> {
    const { tail, shared } = this.#log(credentialId)
    const { filter, limit, after, keepNewest } = poll
    const reader = { credentialId, apiKeyId, filter, limit, after }
    if (keepNewest === undefined) return readPage(this.#db, tail, reader, shared?.updates)
    const isWanted = (row: Row) => row.apiKeyId !== apiKeyId && wants(filter, row)
    const before = tail.before(keepNewest, after, isWanted)
    if (before !== undefined) return readPage(this.#db, tail, { ...reader, after: before })
    const newest = { ...reader, next: tail.next, keep: keepNewest }
    // What comes during the look would be one more than the reader keeps.
    const most = Math.min(limit, keepNewest)
    return cursorBefore(this.#db, newest).then((after) =>
      readPage(this.#db, tail, { ...reader, after, limit: most }),
    )
  }

  /** The same as rows, for callers that deliver them one by one; keys with the same page get the same object. */
  rows(reader: Reader): ReadRows | Promise<ReadRows> {
    const { tail, shared } = this.#log(reader.credentialId)
    return readRows(this.#db, tail, reader, shared?.rows)
  }

  listen(credentialId: number, after: number, notify: () => void): () => void {
    const { listeners, tail } = this.#log(credentialId)
    listeners.set(notify, after)
    if (tail.next - 1 > after) queueMicrotask(() => listeners.has(notify) && notify())
    return () => listeners.delete(notify)
  }

  async #append(log: OpenLog, batch: Append): Promise<Appended> {
    const { credentialId, epoch } = batch
    if (log.epoch !== epoch || !log.isOpen) return { stored: false }
    // A session that begins often reports its checkpoint alone.
    if (batch.happenings.length > 0) log.recent ??= await RecentKeys.load(this.#db, credentialId)
    const { recent } = log
    log.usedAt = Date.now()
    // Counted before anything else: a network that reports only what is known already makes it load all the same.
    this.#count(credentialId, log)
    const fresh = batch.happenings.filter(({ sourceKey }) => recent?.add(sourceKey))
    if (fresh.length === 0 && batch.checkpoint === undefined) return { stored: true, count: 0 }

    const committed = await this.#commit(batch, fresh).catch((cause) => {
      log.doubtedAt = performance.now()
      recent?.forget(fresh)
      throw cause
    })
    if (committed.fenced) {
      recent?.forget(fresh)
      this.#observer.fenced?.()
      return { stored: false }
    }
    const { drafts, firstId } = committed
    const nextBefore = log.tail.next
    log.tail.reach(firstId)
    const cause = { apiKeyId: batch.apiKeyId ?? null, traceId: batch.traceId ?? null }
    for (const [place, { kind, chatId, payload }] of drafts.entries()) {
      log.tail.push({ updateId: firstId + place, kind, chatId, ...cause, payload })
    }
    this.#count(credentialId, log)
    this.#tell(credentialId, log, nextBefore)
    return { stored: true, count: drafts.length }
  }

  async #look(credentialId: number, log: OpenLog): Promise<void> {
    const { doubtedAt = 0 } = log
    const lookedAt = performance.now()
    const found = await this.#positions.run(credentialId)
    if (!log.isOpen || found?.epoch !== log.epoch) return
    const nextBefore = log.tail.next
    log.tail.reach(found.next)
    this.#count(credentialId, log)
    this.#tell(credentialId, log, nextBefore)
    if (lookedAt - doubtedAt >= LATE_WRITES_MS) log.doubtedAt = undefined
  }

  /** Counts what is new with it since then, also what a commit without an answer has stored, and wakes who reads it. */
  #tell(credentialId: number, { tail, listeners }: OpenLog, nextBefore: number): void {
    const updates = tail.next - nextBefore
    if (updates <= 0) return
    this.#observer.received(credentialId, updates)
    for (const notify of [...listeners.keys()]) notify()
  }

  /** If new ids turn out to be taken, the cache is dropped and ids are given again: no caller has seen the first ones. */
  async #commit(batch: Append, fresh: readonly Happening[]): Promise<Committed> {
    const { credentialId, epoch } = batch
    for (let isAgain = false; ; isAgain = true) {
      const translated = await this.#translation.drafts(batch, fresh).catch(translationFailed)
      try {
        const committed = await this.#commits.submit({
          credentialId,
          epoch,
          drafts: translated.drafts,
          chats: translated.chats,
          messages: translated.messages,
          checkpoint: batch.checkpoint === undefined ? null : JSON.stringify(batch.checkpoint),
          apiKeyId: batch.apiKeyId ?? null,
          traceId: batch.traceId ?? null,
        })
        if (!committed.fenced) translated.stored()
        return committed
      } catch (cause) {
        if (!isIdentityConflict(cause)) return commitFailed(cause)
        this.#translation.forget(credentialId)
        if (isAgain) throw cause
      }
    }
  }

  /** Skips a log that another one has replaced: its memory would be counted for ever. */
  #count(credentialId: number, log: OpenLog): void {
    if (log.isOpen && this.#logs.get(credentialId) === log) this.#held.used(log)
  }

  #letGo(log: OpenLog): void {
    log.letGo()
    this.#held.forget(log)
  }

  #log(credentialId: number): OpenLog {
    const log = this.#logs.get(credentialId)
    if (!log?.isOpen)
      throw failed('unavailable', 'the credential is starting', {
        reason: 'starting',
        retryAfterSeconds: 1,
      })
    return log
  }
}

/** An error of the translation is the fault of the events, unless the database says otherwise. */
const translationFailed = (cause: unknown) => unstorable(cause, failedOfItsValues(cause) ?? true)

/** An error of the commit is the fault of the events only if the database says so. */
const commitFailed = (cause: unknown) => unstorable(cause, failedOfItsValues(cause) ?? false)

function unstorable(cause: unknown, isFaultOfEvents: boolean): never {
  if (cause instanceof RequestFailed || !isFaultOfEvents) throw cause
  throw new EventsUnstorable({ cause })
}
