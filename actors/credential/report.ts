/** Turns what a session reports into events of its actor, and stores them; one that can never be stored is skipped. */

import type { CredentialEvent } from '../../machines/credential/events.ts'
import { EventsUnstorable, failed, OwnershipLost } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { SessionReport } from '../ports/platform.ts'
import type { Appended, CredentialStore, Logger, Owned, UpdateLog } from '../ports/ports.ts'

/** Stores events in the log; an event that can never be stored is skipped after a few tries, so that the rest is stored. */
type StoredBatch = Parameters<UpdateLog['append']>[0]

/** Each try but the last ends the session: the next one reports the event again. */
const TRIES = 3

interface StoringWorld {
  readonly updates: Pick<UpdateLog, 'append'>
  readonly logger: Pick<Logger, 'error'>
}

export class UnstorableEvents {
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

export interface Batch {
  readonly checkpoint: Json
  resolve(): void
  reject(cause: unknown): void
}

/** Batches that were reported to the machine and are not stored yet. */
export type Batches = Map<string, Batch>

interface Reporting {
  readonly owned: Owned
  readonly store: CredentialStore
  readonly batches: Batches
  readonly now: () => number
  send(event: CredentialEvent): void
  /** False once the session is that of a link before: what it knows is not to take the place of newer secrets. */
  keepsSecrets(): boolean
  /** A report that cannot be kept ends the session, which is then opened again. */
  onDefect(cause: unknown): void
  /** Another node has claimed the credential. */
  onLost(): void
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
    opened: (identity) => {
      actor.identified(identity.native)
      store.saveIdentity(owned, identity).catch(actor.onDefect)
      send({ type: 'session.opened' })
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
    revoked: (reason) => send({ type: 'session.revoked', reason }),
    invalid: (reason) => send({ type: 'session.invalid', reason }),
    secrets: async (changed) => {
      if (!actor.keepsSecrets()) return
      await store.saveSecrets(owned, changed).catch((cause) => {
        if (cause instanceof OwnershipLost) actor.onLost()
        throw cause
      })
    },
    events(happenings, checkpoint) {
      if (signal.aborted) return Promise.reject(failed('unavailable', 'the session is over'))
      const batch = crypto.randomUUID()
      return new Promise((resolve, reject) => {
        batches.set(batch, { checkpoint, resolve, reject })
        send({ type: 'session.events', batch, happenings })
      })
    },
  }
}

/** Rejects batches that will not be stored, so that their sessions do not acknowledge them. */
export function rejectAll(batches: Batches): void {
  for (const { reject } of batches.values()) reject(failed('unavailable', 'the session is over'))
  batches.clear()
}
