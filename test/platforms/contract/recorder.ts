/** A session's other end in the contract suite: a small log that commits, deduplicates and can be made to fail. */
import type {
  AccountIdentity,
  LinkedAccount,
  Platform,
  Session,
  SessionReport,
} from '../../../actors/ports/platform.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import type { Json } from '../../../machines/model/protocol.ts'

export type Report =
  | 'opened'
  | 'lost'
  | 'limited'
  | 'skipped'
  | 'unshared'
  | 'passedOver'
  | 'replaced'
  | 'revoked'
  | 'invalid'
  | 'secrets'
export const patience = () => AbortSignal.timeout(30_000)

export interface Linked {
  readonly identity: AccountIdentity
  readonly secrets: Json
}

let stores = 0

/** What outlives a session: the committed events and the checkpoint of the last commit. */
export class Store {
  readonly credentialId = ++stores
  readonly happenings: Happening[] = []
  readonly reported: Happening[] = []
  checkpoint: Json = null
  secrets: Json
  /** How many commits are still to fail. */
  failing = 0
  readonly identity: AccountIdentity
  readonly #changed = new EventTarget()
  readonly #keys = new Set<string>()

  constructor({ identity, secrets }: Linked) {
    this.identity = identity
    this.secrets = secrets
  }

  commit(happenings: readonly Happening[], checkpoint: Json) {
    this.reported.push(...happenings)
    this.touched()
    if (this.failing > 0) {
      this.failing -= 1
      throw new Error('the log is away')
    }
    for (const happening of happenings) {
      if (this.#keys.has(happening.sourceKey)) continue
      this.#keys.add(happening.sourceKey)
      this.happenings.push(happening)
    }
    this.checkpoint = checkpoint
    this.touched()
  }

  /** Tells waiters that something changed. */
  touched() {
    this.#changed.dispatchEvent(new Event('change'))
  }

  /** Resolves with the first value that `find` yields, looking again after every change. */
  async until<Value>(find: () => Value | undefined, signal = patience()): Promise<Value> {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const giveUp = () => reject(signal.reason)
      this.#changed.addEventListener('change', resolve, { once: true })
      signal.addEventListener('abort', giveUp, { once: true })
      await promise.finally(() => signal.removeEventListener('abort', giveUp))
    }
  }

  /** The committed message, or edit, with this text. */
  message(text: string, kind: 'message' | 'edited' = 'message') {
    return this.until(() => this.happenings.find((happening) => says(happening, kind, text)))
  }

  texts(kind: 'message' | 'edited' = 'message'): string[] {
    return this.happenings.flatMap((happening) =>
      happening.kind === kind && happening.message.content.kind === 'text'
        ? [happening.message.content.text]
        : [],
    )
  }
}

/** One run of a session over a store. */
export interface Run {
  readonly session: Session
  readonly store: Store
  readonly reports: readonly (readonly [Report, ...unknown[]])[]
  /** Resolves with the arguments of the first report of this kind. */
  reported(report: Report, signal?: AbortSignal): Promise<readonly unknown[]>
  /** Ends the session without signing out, as a stopping service does. */
  stop(): Promise<void>
}

export function run(
  platform: Platform,
  store: Store,
  { recoverChannels = true }: { readonly recoverChannels?: boolean } = {},
): Run {
  const reports: (readonly [Report, ...unknown[]])[] = []
  const note = (report: Report, ...more: unknown[]) => {
    reports.push([report, ...more])
    store.touched()
  }
  const report: SessionReport = {
    opened: (identity, latencyMs) => note('opened', identity, latencyMs),
    lost: (reason, seconds) => note('lost', reason, seconds),
    limited: (kind, seconds) => note('limited', kind, seconds),
    unshared: () => note('unshared'),
    skipped: (what) => note('skipped', what),
    passedOver: (kind) => note('passedOver', kind),
    replaced: () => note('replaced'),
    revoked: (reason) => note('revoked', reason),
    invalid: (reason) => note('invalid', reason),
    secrets: async (changed) => {
      store.secrets = changed
      note('secrets', changed)
    },
    events: async (happenings, checkpoint) => store.commit(happenings, checkpoint),
  }
  const account: LinkedAccount = {
    credentialId: store.credentialId,
    epoch: 1,
    identity: store.identity,
    secrets: store.secrets,
    checkpoint: store.checkpoint,
    recoversChannels: () => recoverChannels,
  }
  const ending = new AbortController()
  const session = platform.open(account, report, ending.signal)
  return {
    session,
    store,
    reports,
    reported: (kind, signal) =>
      store.until(() => reports.find(([name]) => name === kind)?.slice(1), signal),
    stop: async () => {
      await session.close({ signOut: false })
      ending.abort()
    },
  }
}

export function says(happening: Happening, kind: 'message' | 'edited', text: string) {
  if (happening.kind !== kind) return false
  const { content } = happening.message
  return content.kind === 'text' && content.text === text
}
