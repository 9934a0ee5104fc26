/** Turns what a session reports into events of its actor, and stores them; one that can never be stored is skipped. */

import type { CredentialEvent } from '../../machines/credential/events.ts'
import {
  EventsUnstorable,
  failed,
  OwnershipLost,
  RequestFailed,
} from '../../machines/model/failure.ts'
import { admits, type Happening, type ReceiveSettings } from '../../machines/model/happening.ts'
import type { Json } from '../../machines/model/protocol.ts'
import { jittered } from '../host/time.ts'
import type { Session, SessionReport } from '../ports/platform.ts'
import type { Appended, CredentialStore, Logger, Owned, UpdateLog } from '../ports/ports.ts'
import type { CredentialWorld } from './world.ts'

type StoredBatch = Parameters<UpdateLog['append']>[0]

/** Each try but the last ends the session: the next one reports the event again. */
const TRIES = 3

interface StoringWorld {
  readonly updates: Pick<UpdateLog, 'append'>
  readonly logger: Pick<Logger, 'error'>
}

/** Stores events in the log; an event that can never be stored is skipped after a few tries, so that the rest is stored. */
class UnstorableEvents {
  readonly #world: StoringWorld
  readonly #credentialId: number
  readonly #skipped: () => void
  /** The source key of the first event that could not be stored; the events after it wait. */
  #suspect: string | undefined
  #tries = 0

  /** `skipped` is called for each event that was left out. */
  constructor(world: StoringWorld, credentialId: number, skipped: () => void) {
    this.#world = world
    this.#credentialId = credentialId
    this.#skipped = skipped
  }

  async append(batch: StoredBatch): Promise<Appended> {
    try {
      return await this.#world.updates.append(batch)
    } catch (cause) {
      if (!(cause instanceof EventsUnstorable)) throw cause
    }
    // One of them is unstorable, so each is stored alone. An event that is reported again is known by its source key.
    const { happenings, checkpoint: _, ...rest } = batch
    for (const happening of happenings) {
      const appended = await this.#alone({ ...rest, happenings: [happening] }, happening)
      if (!appended.stored) return appended
    }
    return this.#world.updates.append({ ...batch, happenings: [] })
  }

  async #alone(batch: StoredBatch, { sourceKey }: Happening): Promise<Appended> {
    try {
      return await this.#world.updates.append(batch)
    } catch (cause) {
      if (!(cause instanceof EventsUnstorable)) throw cause
      this.#tries = this.#suspect === sourceKey ? this.#tries + 1 : 1
      this.#suspect = sourceKey
      if (this.#tries < TRIES) throw cause
      const facts = { credentialId: this.#credentialId, sourceKey, err: cause }
      this.#world.logger.error(facts, 'an event cannot be stored, and is left out')
      this.#skipped()
      return { stored: true, count: 0 }
    }
  }
}

interface Batch {
  readonly checkpoint: Json
  resolve(): void
  reject(cause: unknown): void
}

/** Batches that were reported and are not stored yet. */
export type Batches = Map<number, Batch>

let lastBatch = 0

interface Reporting {
  readonly owned: Owned
  readonly store: CredentialStore
  readonly batches: Batches
  readonly now: () => number
  send(event: CredentialEvent): void
  /** Stores the happenings of a batch, if the session has not ended by then. */
  storeEvents(batch: number, happenings: readonly Happening[]): void
  /** The number of the session's link; undefined if it was replaced: it must not overwrite newer secrets. */
  link(): number | undefined
  /** A report that cannot be kept ends the session, which is then opened again. */
  onDefect(cause: unknown): void
  /** Another node has claimed the credential. Resolves once it is known how the session is to end. */
  onLost(): Promise<void>
  /** Resolves once it is known how a session that is not listened to any more is to end. */
  closingDecided(): Promise<void>
  /** Resolves with the event for a session that another client has taken; with undefined if there is none. */
  replaced(): Promise<CredentialEvent | undefined>
  /** The network's id of the account. */
  identified(native: string): void
}

/** A session whose `signal` is aborted is no longer listened to, and its events are not stored. */
export function reportTo(actor: Reporting, signal: AbortSignal): SessionReport {
  const { owned, store, batches } = actor
  const send = (event: CredentialEvent) => {
    if (!signal.aborted) actor.send(event)
  }
  return {
    opened: (identity, latencyMs) => {
      actor.identified(identity.native)
      store.saveIdentity(owned, identity).catch(actor.onDefect)
      const isProven = latencyMs !== undefined
      if (isProven && !signal.aborted) {
        store.noteHealth(owned, { healthy: true, at: actor.now(), latencyMs })
      }
      send({ type: 'session.opened', ...(isProven && { isProven }) })
    },
    lost: (reason, retryAfterSeconds) =>
      send({ type: 'session.lost', reason, retryAfterMs: (retryAfterSeconds ?? 0) * 1000 }),
    limited: (reason, seconds) => {
      const forMs = seconds * 1000
      send({ type: 'session.limited', reason, forMs, until: actor.now() + forMs })
    },
    skipped: (what) => send({ type: what === 'unknown' ? 'archive.missing' : `${what}.skipped` }),
    unshared: () => send({ type: 'rooms.unshared' }),
    passedOver: (kind) => send({ type: 'updates.skipped', kind }),
    replaced() {
      actor
        .replaced()
        .then((event) => event && send(event))
        .catch(actor.onDefect)
    },
    revoked: (reason, mayPass = false) => send({ type: 'session.revoked', reason, mayPass }),
    invalid: (reason) => send({ type: 'session.invalid', reason }),
    secrets: async (changed) => {
      const link = actor.link()
      if (link === undefined) return
      await store.saveSecrets(owned, link, changed).catch(async (cause) => {
        if (cause instanceof OwnershipLost) await actor.onLost()
        else if (signal.aborted) await actor.closingDecided()
        throw cause
      })
    },
    events(happenings, checkpoint) {
      if (signal.aborted) return actor.closingDecided().then(refuse)
      const batch = ++lastBatch
      return new Promise((resolve, reject) => {
        batches.set(batch, { checkpoint, resolve, reject })
        actor.storeEvents(batch, happenings)
      })
    },
  }
}

const refuse = () => Promise.reject(failed('unavailable', 'the session is over'))

/**
 * Rejects batches that will not be stored, so that their session does not acknowledge them. It waits until it is known how
 * the session ends: a session whose events are refused ends by itself, and could not sign out any more.
 */
export function rejectAll(batches: Batches, closingDecided: Promise<void>): void {
  const left = [...batches.values()]
  batches.clear()
  closingDecided.then(() => {
    for (const { reject } of left) reject(failed('unavailable', 'the session is over'))
  })
}

const FIRST_RETRY_MS = 50
export const LONGEST_RETRY_MS = 1_000
/** After so many tries with a database that answers, the session ends; the next one reports the events again. */
const MOST_TRIES = 30
/** The largest number of events in one commit of waiting reports, so that one account does not delay the others. */
const MOST_TOGETHER = 500

/** A report, with the settings of that moment. */
interface Reported {
  readonly batch: number
  readonly happenings: readonly Happening[]
  readonly settings: ReceiveSettings
}

interface QueueOwner {
  readonly facts: Owned
  readonly world: Pick<CredentialWorld, 'store' | 'updates' | 'clock' | 'logger'>
  readonly batches: Batches
  /** The open session. */
  session(): Session | undefined
  /** Resolves when storage may work again, after at most so many milliseconds. */
  recovered(atMostMs: number): Promise<void>
  /** Ends what runs for the credential. Resolves once it is known how the session is to end. */
  lost(): Promise<void>
  /** Resolves once a session that is not the open one any more was told how to end. */
  closingDecided(): Promise<void>
  send(event: CredentialEvent): void
  onDefect(cause: unknown): void
}

/** Reports that share one commit, in their order. */
interface Group {
  readonly batches: ReadonlyMap<number, Batch>
  readonly happenings: readonly Happening[]
  /** The checkpoint of the newest report. */
  readonly checkpoint: Json
}

/**
 * Stores the reports of one credential in their order: those that arrive during a commit share the next one. They are
 * stored together or tried again together, because a report that follows a failed one must not move the checkpoint past
 * it. Each is acknowledged after its own commit.
 */
export class ReportQueue {
  readonly #owner: QueueOwner
  readonly #unstorable: UnstorableEvents
  #waiting: Reported[] = []
  #isStoring = false

  constructor(owner: QueueOwner) {
    this.#owner = owner
    const skipped = () => owner.send({ type: 'messages.skipped' })
    this.#unstorable = new UnstorableEvents(owner.world, owner.facts.credentialId, skipped)
  }

  push(reported: Reported): void {
    this.#waiting.push(reported)
    if (!this.#isStoring) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isStoring = true
    // Reports of the same moment, and the end of their session, come first.
    await undefined
    while (this.#waiting.length > 0) await this.#store(this.#take())
    this.#isStoring = false
  }

  /** The oldest reports. One alone may be larger than the limit. */
  #take(): readonly Reported[] {
    let events = 0
    const end = this.#waiting.findIndex(({ happenings }) => {
      events += happenings.length
      return events > MOST_TOGETHER
    })
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : Math.max(1, end))
  }

  /** The session waits for its reports as long as the database is in trouble: that is no fault of the network. */
  async #store(taken: readonly Reported[]): Promise<void> {
    const { batches, onDefect } = this.#owner
    const reporter = this.#owner.session()
    // The sessions of the missing batches have ended, and the batches were rejected.
    const reports = taken.filter(({ batch }) => batches.has(batch))
    const group = this.#together(reports)
    if (!group) return
    try {
      this.#note(reports)
    } catch (cause) {
      onDefect(cause)
      return this.#giveUp(group, reporter, cause)
    }
    for (let tries = 1; ; tries++) {
      // A write under way is not interrupted, also when the session is over.
      for (const id of group.batches.keys()) batches.delete(id)
      try {
        return await this.#append(group)
      } catch (cause) {
        if (tries % MOST_TRIES === 1) onDefect(cause)
        const isRetried = this.#owner.session() === reporter && isTransient(cause, tries)
        if (!isRetried) return this.#giveUp(group, reporter, cause)
      }
      for (const [id, batch] of group.batches) batches.set(id, batch)
      await this.#owner.recovered(retryAfter(tries))
      // The session ended meanwhile, and its batches were rejected.
      for (const id of group.batches.keys()) if (!batches.has(id)) return
    }
  }

  #together(reports: readonly Reported[]): Group | undefined {
    const known = new Map<number, Batch>()
    const happenings: Happening[] = []
    for (const { batch: id, happenings: reported, settings } of reports) {
      const batch = this.#owner.batches.get(id)
      if (!batch) continue
      known.set(id, batch)
      for (const one of reported) if (admits(settings, one)) happenings.push(one)
    }
    const newest = [...known.values()].at(-1)
    return newest && { batches: known, happenings, checkpoint: newest.checkpoint }
  }

  #note(reports: readonly Reported[]): void {
    const { store } = this.#owner.world
    const { credentialId } = this.#owner.facts
    for (const { happenings } of reports) store.noteEvents(credentialId, happenings)
  }

  #giveUp({ batches }: Group, reporter: Session | undefined, cause: unknown): void {
    for (const id of batches.keys()) this.#owner.batches.delete(id)
    const refuse = () => {
      for (const { reject } of batches.values()) reject(cause)
    }
    // A session that is refused ends by itself, and could not sign out any more.
    if (this.#owner.session() !== reporter) return void this.#owner.closingDecided().then(refuse)
    refuse()
    this.#owner.send({ type: 'session.lost', reason: 'events_not_stored' })
  }

  async #append({ batches, happenings, checkpoint }: Group): Promise<void> {
    const { facts, world } = this.#owner
    const { credentialId, epoch } = facts
    const appended = await this.#unstorable.append({ credentialId, epoch, happenings, checkpoint })
    if (!appended.stored) {
      await this.#owner.lost()
      for (const { reject } of batches.values()) reject(new OwnershipLost())
      return
    }
    for (const { resolve } of batches.values()) resolve()
    try {
      world.store.noteHealth(facts, { healthy: true, at: world.clock.now() })
    } catch (cause) {
      this.#owner.onDefect(cause)
    }
  }
}

const retryAfter = (tries: number) =>
  jittered(Math.min(LONGEST_RETRY_MS / 1.2, FIRST_RETRY_MS * 2 ** (tries - 1)))

/** A database that is away comes back, so it is tried for ever; any other error gets a limited number of tries. */
const isTransient = (cause: unknown, tries: number) =>
  tries < MOST_TRIES || (cause instanceof RequestFailed && cause.failure.code === 'unavailable')
