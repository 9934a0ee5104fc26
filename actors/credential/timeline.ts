/** Records every change of a credential's state: from, to, why, and how long the old state lasted. */
import type { SnapshotFrom } from 'xstate'
import type { credentialMachine } from '../../machines/credential/machine.ts'
import type { Inspected } from '../host/host.ts'
import type { Clock, CredentialFacts, CredentialStore, Owned } from '../ports/ports.ts'

type Snapshot = SnapshotFrom<typeof credentialMachine>

/** Events that get a line although the state does not change. */
const REMARKS = [
  'messages.skipped',
  'changes.skipped',
  'updates.skipped',
  'archive.missing',
  'rooms.unshared',
]

/** How the public record shows a state of the machine. */
interface PublicState {
  readonly state: string
  readonly action: string
}

/** The state an operator sees: the innermost one that carries a public meaning, as a path. */
export function visibleState(snapshot: Snapshot): [path: string, shown: PublicState] {
  const [id, meta] = Object.entries(snapshot.getMeta()).at(-1) ?? ['credential.resuming', undefined]
  return [
    id.slice('credential.'.length),
    (meta ?? { state: 'connecting', action: 'none' }) as PublicState,
  ]
}

export class Timeline {
  readonly #owned: Owned
  readonly #store: CredentialStore
  readonly #clock: Clock
  #state: string
  #since: number
  /** The lines of the reconnects that go on now; each is written once, and counted after that. */
  readonly #incident = new Set<string>()
  /** The kinds of updates that were passed over; each has a line, and is counted after that. */
  readonly #passedOver = new Set<string>()

  constructor(facts: CredentialFacts, store: CredentialStore, clock: Clock) {
    this.#owned = { credentialId: facts.credentialId, epoch: facts.epoch }
    this.#store = store
    this.#clock = clock
    this.#state = facts.state
    this.#since = facts.stateSince ?? clock.now()
  }

  /** When the state began that it is in. */
  get since(): number {
    return this.#since
  }

  observe(inspection: Inspected): void {
    const snapshot = inspection.snapshot as Snapshot
    const [to, shown] = visibleState(snapshot)
    const isRemark = REMARKS.includes(inspection.event.type)
    if (to === this.#state && !isRemark) return
    const at = this.#clock.now()
    const { reason, losses, crashes } = snapshot.context
    const event = eventName(inspection.event, crashes.length > 0)
    const line = [this.#state, to, event, reason].join(' ')
    // A connection that was stable for a while starts with no losses: the next loss is another incident.
    if (losses === 0 || (losses === 1 && to === 'waiting')) this.#incident.clear()
    const isCounted = inspection.event.type === 'updates.skipped'
    const known = isCounted ? this.#passedOver : this.#incident
    const isRepeat = known.has(line)
    if (isCounted || losses > 0) known.add(line)
    this.#store.record({
      ...this.#owned,
      at,
      from: this.#state,
      to,
      event,
      reason,
      durationMs: at - this.#since,
      publicState: shown.state,
      action: shown.action,
      limitedUntil: snapshot.context.limit?.until,
      ...(isRepeat && { isRepeat }),
    })
    if (isRemark) return
    this.#state = to
    this.#since = at
  }
}

/** XState's own events in an operator's words: `xstate.after.backoff.credential.waiting` is `after.backoff`. */
function eventName(
  { type, kind }: { readonly type: string; readonly kind?: string },
  hasCrashed: boolean,
): string {
  if (type === 'updates.skipped') return `${kind}.skipped`
  if (type === 'xstate.init') return hasCrashed ? 'actor.crashed' : 'actor.started'
  return type.replace(/^xstate\.(after\.\w+).*/, '$1')
}
