/** What the actors of credentials share: ports, time limits, the budget of starts, and how a session is closed. */
import type { CredentialEvent } from '../../machines/credential/events.ts'
import type { CredentialContext } from '../../machines/credential/setup.ts'
import { failed, OwnershipLost } from '../../machines/model/failure.ts'
import { later } from '../host/time.ts'
import type { Lease } from '../node/lease.ts'
import type { LinkedAccount, Platform, WritePermit } from '../ports/platform.ts'
import type {
  Clock,
  CredentialFacts,
  CredentialStore,
  Identities,
  Logger,
  LostCredential,
  Storage,
  StoredAccount,
  UpdateLog,
} from '../ports/ports.ts'
import type { OwnUpdates } from './perform.ts'

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
  readonly own: OwnUpdates
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
  /** Whether it is left to the session of another process, or of a later start of this one. */
  handsOver?: boolean
  /** Resolves once `signOut` is final; only for an account that was lost. */
  decided?: Promise<void>
}

/** The actor of a credential. */
export interface Owner {
  getSnapshot(): {
    readonly status: string
    readonly context: Pick<CredentialContext, 'settings'>
  }
  send(event: CredentialEvent): void
}

/** An account as its session gets it; the settings are those of each moment. */
export const withSettings = (
  { link: _, ...account }: StoredAccount,
  permit: WritePermit,
  owner: Owner,
): LinkedAccount => ({
  ...account,
  permit,
  recoversChannels: () => owner.getSnapshot().context.settings.includeChannelUpdateRecovery,
})

/** Checked before an operation and during it, because the next owner may have sent the same already. */
export function assertOwner(owner: Owner, lease: Pick<Lease, 'isValid'>): void {
  if (owner.getSnapshot().status !== 'active') throw new OwnershipLost()
  if (lease.isValid) return
  const description = 'it is not certain that this node still owns the credential'
  throw failed('unavailable', description, { retryAfterSeconds: 1 })
}

export const notConnected = () =>
  failed('unavailable', 'the credential is not connected', {
    reason: 'not_connected',
    retryAfterSeconds: 1,
  })

/**
 * A start that has failed keeps its turn for so long. A network that refuses at once would else be asked by thousands of accounts as
 * fast as this machine can; and those that still wait for a turn are back soonest when it answers again.
 */
const FAILED_MS = 500

/** Gives the turn back. `hasFailed`: the network did not let the account in. */
export type ReleaseTurn = (hasFailed?: boolean) => void

/** Whose turn it is. */
type Starter = Pick<CredentialFacts, 'platform' | 'userId'>

/**
 * How many credentials of one network may connect at once, so that a restart does not flood it. A network that does not answer
 * keeps its turns for long, and must not keep them from the others.
 */
export class StartBudget {
  readonly #size: number
  readonly #clock: Clock
  readonly #lines = new Map<string, Line>()

  constructor(size: number, clock: Clock) {
    this.#size = size
    this.#clock = clock
  }

  /** Calls `granted` when a permit is free; the returned function releases the permit, or leaves the queue. */
  request({ platform, userId }: Starter, granted: () => void): ReleaseTurn {
    const line = this.#lines.get(platform) ?? new Line(this.#size, this.#clock)
    this.#lines.set(platform, line)
    return line.request(userId, granted)
  }

  get waiting(): number {
    return [...this.#lines.values()].reduce((sum, { waiting }) => sum + waiting, 0)
  }
}

/** Those of one network: its users take turns, however many accounts one of them has. */
class Line {
  readonly #size: number
  readonly #clock: Clock
  /** The user who is next stands first. */
  readonly #waiting = new Map<number, Set<() => void>>()
  #running = 0

  constructor(size: number, clock: Clock) {
    this.#size = size
    this.#clock = clock
  }

  request(userId: number, granted: () => void): ReleaseTurn {
    let state: 'queued' | 'running' | 'over' = 'queued'
    const begin = () => {
      this.#running++
      state = 'running'
      granted()
    }
    this.#waiting.set(userId, (this.#waiting.get(userId) ?? new Set()).add(begin))
    this.#advance()
    return (hasFailed = false) => {
      if (state === 'queued') this.#leave(userId, begin)
      if (state === 'running' && hasFailed) later(this.#clock, () => this.#free(), FAILED_MS)
      else if (state === 'running') this.#free()
      state = 'over'
    }
  }

  #free() {
    this.#running--
    this.#advance()
  }

  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0)
  }

  #advance() {
    while (this.#running < this.#size) {
      const [next] = this.#waiting
      if (!next) return
      const [userId, own] = next
      const [begin = () => undefined] = own
      own.delete(begin)
      // The user goes to the end of the line.
      this.#waiting.delete(userId)
      if (own.size > 0) this.#waiting.set(userId, own)
      begin()
    }
  }

  #leave(userId: number, begin: () => void) {
    const own = this.#waiting.get(userId)
    own?.delete(begin)
    if (own?.size === 0) this.#waiting.delete(userId)
  }
}
