/** The real thing beside the model: log, key store and key actors on tables of their own. */
import { setImmediate } from 'node:timers/promises'
import type { ApiKeyActor } from '../../../actors/api-key/actor.ts'
import { ApiKeys } from '../../../actors/api-key/actor.ts'
import { Turns } from '../../../actors/host/time.ts'
import type { Webhooks } from '../../../actors/ports/webhooks.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import type { Database } from '../../../src/database/database.ts'
import { PostgresKeyStore } from '../../../src/keys/store.ts'
import { pendingUpdates } from '../../../src/keys/waiting.ts'
import { type Bounds, boundsFor } from '../../../src/updates/held.ts'
import type { Translation } from '../../../src/updates/log.ts'
import { PostgresUpdateLog } from '../../../src/updates/log.ts'
import { retainUpdates } from '../../../src/updates/retention.ts'
import { TestClock, thrown } from '../../support/clock.ts'
import { quietLogger } from '../../support/logger.ts'
import { type Stage, written } from '../stage.ts'
import type { Event } from './model.ts'

/** Payloads that say no more than which event it was. */
const translation: Translation = {
  drafts: async (_, happenings) => ({
    drafts: happenings.map(({ sourceKey, kind }) => ({
      sourceKey,
      kind: kind === 'edited' ? 1 : 0,
      chatId: 1,
      payload: `"message":${JSON.stringify(sourceKey)}`,
    })),
    chats: [],
    messages: [],
    stored: () => undefined,
  }),
  forget: () => undefined,
}

const happening = ({ sourceKey, kind }: Event): Happening =>
  written(sourceKey, { kind: kind === 1 ? 'edited' : 'message' })

const silent = { committed: () => undefined, received: () => undefined }
const unlimited = { perSecond: 1e9, burst: 1e9 }

export interface RealPoll {
  readonly offset: number
  readonly limit: number
  readonly kinds: number | undefined
  /** Nothing will come: time has to pass until it is answered. */
  readonly waits: boolean
}

/** No key of the model has a webhook. */
const none = {} as Webhooks

export class System {
  readonly clock = new TestClock()
  readonly credentials: number[] = []
  readonly keys: number[] = []
  readonly #db: Database
  readonly #bounds: Bounds
  /** Statements so far. */
  #statements = 0
  readonly #epochs: number[] = []
  #keyStore: PostgresKeyStore
  #updates: PostgresUpdateLog
  #actors: ApiKeyActor[] = []

  private constructor(db: Database, bounds: Bounds) {
    this.#bounds = bounds
    this.#db = {
      ...db,
      query: <Row extends object>(...asked: Parameters<Database['query']>) => {
        this.#statements++
        return db.query<Row>(...asked)
      },
    }
    this.#keyStore = new PostgresKeyStore(this.#db, quietLogger)
    this.#updates = new PostgresUpdateLog(this.#db, translation, silent, bounds)
  }

  /** A key for each number: the place of its credential. */
  static async open(
    { db, credential, key }: Stage,
    keys: readonly number[],
    bounds = boundsFor(),
  ): Promise<System> {
    const system = new System(db, bounds)
    for (let place = 0; place <= Math.max(...keys); place++) {
      system.credentials.push(await credential())
      system.#epochs.push(0)
    }
    for (const place of keys) system.keys.push(await key(system.credentials[place] ?? 0))
    await system.#begin()
    return system
  }

  async append(place: number, events: readonly Event[], author?: number): Promise<number> {
    const batch = this.#batch(place, events)
    const apiKeyId = author === undefined ? {} : { apiKeyId: this.keys[author] ?? 0 }
    const appended = await this.#updates.append({ ...batch, ...apiKeyId })
    return appended.stored ? appended.count : -1
  }

  async appendElsewhere(place: number, events: readonly Event[]): Promise<number> {
    const other = new PostgresUpdateLog(this.#db, translation, silent)
    const batch = this.#batch(place, events)
    await other.open(batch.credentialId)
    const appended = await other.append(batch)
    return appended.stored ? appended.count : -1
  }

  /** Somebody else owned it for a moment; resolves with what an append in between came to. */
  async takeOver(place: number, events: readonly Event[]): Promise<boolean> {
    const batch = this.#batch(place, events)
    const epoch = batch.epoch + 1
    await this.#db.query('update credential_log set epoch = $2 where credential_id = $1', [
      batch.credentialId,
      epoch,
    ])
    const { stored } = await this.#updates.append({ ...batch, checkpoint: 1 })
    this.#epochs[place] = epoch
    await this.#updates.open(batch.credentialId, epoch)
    return stored
  }

  async poll(key: number, { waits, kinds, ...asked }: RealPoll): Promise<unknown> {
    const actor = this.#actor(key)
    const request = { ...asked, timeoutMs: 0, ...(kinds !== undefined && { kinds }) }
    let isAnswered = false
    const answer = actor.poll(request, AbortSignal.timeout(10_000)).finally(() => {
      isAnswered = true
    })
    if (waits) {
      while (!isAnswered && !actor.snapshot.context.waiting) await setImmediate()
      await this.clock.advance(3_000)
    }
    return JSON.parse((await answer).json)
  }

  /** At least where the model has it: a key does not look again at what it did not want. */
  cursor(key: number): number {
    return this.#actor(key).snapshot.context.cursor
  }

  /** As a webhook reads. */
  async rows(key: number, after: number, limit: number): Promise<{ ids: number[]; head: number }> {
    const { rows, head } = await this.#updates.rows(this.#reader(key, after, limit))
    return { ids: rows.map(({ updateId }) => updateId), head }
  }

  /** As a poll reads. */
  async page(key: number, after: number, limit: number) {
    const { credentialId, apiKeyId, filter } = this.#reader(key, after, limit)
    const poll = {
      requestId: 'r',
      askedAt: 0,
      after,
      keepNewest: undefined,
      limit,
      timeoutMs: 0,
      filter,
    }
    const { json, cursor, head } = await this.#updates.read(credentialId, apiKeyId, poll)
    const updates = JSON.parse(json) as { update_id: number }[]
    return { ids: updates.map(({ update_id }) => update_id), cursor, head }
  }

  /** What it costs who has read everything up to here to wait, and to read again. */
  async rests(key: number, after: number, limit: number) {
    const { credentialId } = this.#reader(key, after, limit)
    // A cursor or a filter of before may be on its way yet: it is written a moment late.
    await this.#keyStore.flush()
    const before = this.#statements
    let calls = 0
    const leave = this.#updates.listen(credentialId, after, () => calls++)
    await setImmediate()
    leave()
    await this.rows(key, after, limit)
    await this.page(key, after, limit)
    return { statements: this.#statements - before, calls }
  }

  pending(key: number): Promise<number> {
    return pendingUpdates(this.#db, this.#updates, this.#actor(key))
  }

  dropPending(key: number): Promise<void> {
    return this.#actor(key).dropPending()
  }

  /** Resolves with what each key was told in all. */
  async retain(updates: number): Promise<number[]> {
    await this.#keyStore.flush()
    await retainUpdates(this.#db, { days: 7, updates }, (credentialId, updateId) =>
      this.#updates.removed(credentialId, updateId),
    )
    const rows = await this.#db.query<{ dropped_updates: number }>(
      'select dropped_updates from api_key where id = any($1) order by id',
      [this.keys],
    )
    return rows.map((row) => row.dropped_updates)
  }

  async restart(): Promise<void> {
    await this.close()
    this.#keyStore = new PostgresKeyStore(this.#db, quietLogger)
    this.#updates = new PostgresUpdateLog(this.#db, translation, silent, this.#bounds)
    await this.#begin()
  }

  async close(): Promise<void> {
    for (const actor of this.#actors) actor.stop()
    await this.#keyStore.flush()
  }

  async #begin() {
    for (const id of this.credentials) await this.#updates.open(id)
    this.#actors = []
    for (const id of this.keys) {
      const facts = await this.#keyStore.load(id)
      if (!facts) throw new Error(`no key ${id}`)
      const webhooks = none
      const world = {
        updates: this.#updates,
        keys: this.#keyStore,
        clock: this.clock,
        logger: quietLogger,
        turns: new Turns(this.clock, thrown),
        webhooks,
      }
      this.#actors.push(
        new ApiKeys({ ...world, rates: { key: unlimited, chat: unlimited } }).begin(facts),
      )
    }
  }

  #actor(key: number): ApiKeyActor {
    const actor = this.#actors[key]
    if (!actor) throw new Error(`no key ${key}`)
    return actor
  }

  #reader(key: number, after: number, limit: number) {
    const { facts, snapshot } = this.#actor(key)
    const { apiKeyId, credentialId } = facts
    return { credentialId, apiKeyId, filter: snapshot.context.filter, limit, after }
  }

  #batch(place: number, events: readonly Event[]) {
    const credentialId = this.credentials[place] ?? 0
    return { credentialId, epoch: this.#epochs[place] ?? 0, happenings: events.map(happening) }
  }
}
