/** Turns what a session reports into events of its credential's actor. */
import type { CredentialEvent } from '../../machines/credential/events.ts'
import { failed, OwnershipLost } from '../../machines/model/failure.ts'
import type { Json, SessionReport } from '../ports/platform.ts'
import type { CredentialStore, Owned } from '../ports/ports.ts'

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

/** None of these will be stored: their sessions must not acknowledge them. */
export function rejectAll(batches: Batches): void {
  for (const { reject } of batches.values()) reject(failed('unavailable', 'the session is over'))
  batches.clear()
}
