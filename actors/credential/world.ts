/** What the actors of credentials share: ports, time limits, the budget of starts, and how a session is closed. */
import type { CredentialContext } from '../../machines/credential/setup.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Lease } from '../node/lease.ts'
import type { LinkedAccount, Platform, WritePermit } from '../ports/platform.ts'
import type {
  Clock,
  CredentialStore,
  Identities,
  Logger,
  LostCredential,
  Storage,
  StoredAccount,
  UpdateLog,
} from '../ports/ports.ts'

/** Milliseconds. */
interface Timing {
  readonly probeEvery: number
  readonly probeAgain: number
  readonly probeTakes: number
  readonly performTakes: number
  readonly signOutTakes: number
  /** How long a call waits for an account that is not online yet. */
  readonly holdFor: number
}

export interface CredentialWorld {
  readonly platform: Platform
  readonly store: CredentialStore
  readonly updates: UpdateLog
  readonly storage: Storage
  readonly identities: Identities
  readonly budget: StartBudget
  readonly clock: Clock
  readonly logger: Logger
  readonly timing: Timing
  /** Whether this node may still act for what it claimed. */
  readonly lease: Pick<Lease, 'isValid' | 'valid' | 'onEnd'>
  /** Resolves once no node that was declared gone can still have a session. Absent: there are no other nodes. */
  formerOwnersEnded?(): Promise<void>
  /** Another node has claimed it: everything that this process runs for it ends. */
  lost(lost: LostCredential): void
  /** The actor has a new snapshot. */
  changed?(): void
}

/** How a session is closed. */
export interface Closing {
  /** Whether it ends on the network too. */
  signOut: boolean
  /** The number of its link; undefined before its account was read. */
  link?: number
  /** The network has confirmed it, of an account that is deleted. */
  isSignedOut?: true
  /** Resolves once `signOut` is final; only for an account that was lost. */
  decided?: Promise<void>
}

/** An account as its session gets it; the settings are those of each moment. */
export const withSettings = (
  { link: _, ...account }: StoredAccount,
  permit: WritePermit,
  owner: { getSnapshot(): { readonly context: Pick<CredentialContext, 'settings'> } },
): LinkedAccount => ({
  ...account,
  permit,
  recoversChannels: () => owner.getSnapshot().context.settings.includeChannelUpdateRecovery,
})

export const notConnected = () =>
  failed('unavailable', 'the credential is not connected', {
    reason: 'not_connected',
    retryAfterSeconds: 1,
  })

/** How many credentials of the service may connect at once, so that a restart does not flood the networks. */
export class StartBudget {
  readonly #size: number
  readonly #queue = new Set<() => void>()
  #running = 0

  constructor(size: number) {
    this.#size = size
  }

  /** Calls `granted` when a permit is free; the returned function releases the permit, or leaves the queue. */
  request(granted: () => void): () => void {
    let state: 'queued' | 'running' | 'over' = 'queued'
    const begin = () => {
      this.#queue.delete(begin)
      this.#running++
      state = 'running'
      granted()
    }
    this.#queue.add(begin)
    this.#advance()
    return () => {
      if (state === 'running') this.#running--
      else this.#queue.delete(begin)
      if (state !== 'over') this.#advance()
      state = 'over'
    }
  }

  get waiting(): number {
    return this.#queue.size
  }

  #advance() {
    for (const begin of this.#queue) {
      if (this.#running >= this.#size) return
      begin()
    }
  }
}
