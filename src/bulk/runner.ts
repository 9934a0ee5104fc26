/** Runs actions on many accounts. Each node acts on the accounts that it owns, so the next owner of an account continues. */
import { setTimeout as pause } from 'node:timers/promises'
import type { CredentialActor } from '../../actors/credential/actor.ts'
import type { Logger } from '../../actors/ports/ports.ts'
import { OwnershipLost, RequestFailed } from '../../machines/model/failure.ts'
import type { FailureReason } from '../../machines/model/reason.ts'
import type { Database } from '../database/database.ts'
import { unlessAborted } from '../platforms/kit/session-life.ts'
import {
  type BulkKind,
  type ItemOutcome,
  type RunningAction,
  runningActions,
  saveOutcomes,
  type WaitingItem,
  waitingItems,
} from './actions.ts'

/** The number of concurrent actions, of those of one user, and of concurrent accounts in each. */
const ACTIONS_AT_ONCE = 8
const ACTIONS_OF_USER = 4
const ACCOUNTS_AT_ONCE = 20
const PAGE = 500
/** The interval of writing outcomes. After a crash, the work of one interval is repeated. */
const SAVE_EVERY_MS = 250
/** Another node may have begun an action, or this node may own another account now. */
const LOOK_EVERY_MS = 5_000
/** Signing out and wiping take seconds. */
const DELETE_MS = 30_000
const TRIES = 5
const AGAIN_MS = 1_000

interface RunnerOptions {
  readonly db: Database
  readonly logger: Logger
  readonly credentials: {
    find(credentialId: number): Promise<CredentialActor>
    ready(credentialId: number, hasLeft: () => boolean): Promise<CredentialActor>
  }
  incarnation(): number | null
  /** Makes the page on which the owner of the account links it again. */
  makePage(
    item: { readonly actionId: number; readonly position: number },
    credentialId: number,
  ): Promise<void>
}

/** The change as other nodes receive it. */
export type BulkChange = Readonly<{ actionId: number; isRunning: boolean }>

/** An action that this node works on. */
interface Walk {
  readonly userId: number
  readonly ended: Promise<void>
}

export class BulkRunner {
  readonly #options: RunnerOptions
  readonly #closing = new AbortController()
  readonly #walks = new Map<number, Walk>()
  /** Actions that were stopped while they are walked: no further account is begun. */
  readonly #halted = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  /** Resumes interrupted actions. */
  start(): void {
    this.poke()
    this.#timer = setInterval(() => this.poke(), LOOK_EVERY_MS)
  }

  /** There may be something to do. */
  poke(): void {
    this.#looking = this.#looking.then(() => this.#look())
  }

  /** An action was begun, stopped or resumed. A node that misses this reads it from the database a little later. */
  changed({ actionId, isRunning }: BulkChange): void {
    if (isRunning) this.poke()
    else if (this.#walks.has(actionId)) this.#halted.add(actionId)
  }

  /** Accounts in progress are abandoned; their next owner does them again. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#looking
    await Promise.all([...this.#walks.values()].map(({ ended }) => ended))
  }

  async #look(): Promise<void> {
    const { db, logger, incarnation } = this.#options
    if (this.#closing.signal.aborted) return
    try {
      for (const action of await runningActions(db, incarnation(), 100)) {
        if (this.#walks.size >= ACTIONS_AT_ONCE) return
        if (this.#walks.has(action.id) || this.#isFullFor(action)) continue
        const ended = this.#walk(action)
          .catch((err) => logger.error({ err, action: action.id }, 'an action was interrupted'))
          .then(() => {
            this.#walks.delete(action.id)
            // It may have been resumed meanwhile.
            if (this.#halted.delete(action.id)) this.poke()
          })
        this.#walks.set(action.id, { userId: action.userId, ended })
      }
    } catch (err) {
      logger.warn({ err }, 'actions on accounts were not looked for')
    }
  }

  /** Others do not wait for all that one user has begun. */
  #isFullFor({ userId }: RunningAction): boolean {
    const theirs = [...this.#walks.values()].filter((walk) => walk.userId === userId)
    return theirs.length >= ACTIONS_OF_USER
  }

  /** Ends when no accounts are left for this node, or when the action was stopped. */
  async #walk(action: RunningAction): Promise<void> {
    const { db, incarnation } = this.#options
    const { signal } = this.#closing
    while (!signal.aborted && !this.#halted.has(action.id)) {
      const items = await waitingItems(db, action.id, incarnation(), PAGE)
      const saved = await this.#page(action, items)
      if (saved === 0) return
    }
  }

  /**
   * Resolves with the number of accounts that have an outcome now. If this node missed a stop, saving the outcomes
   * shows it.
   */
  async #page(action: RunningAction, items: readonly WaitingItem[]): Promise<number> {
    const { db, incarnation } = this.#options
    const { signal } = this.#closing
    let outcomes: ItemOutcome[] = []
    let saved = 0
    let isOver = false
    let saving = Promise.resolve()
    let savedAt = performance.now()
    const save = async () => {
      const some = outcomes
      outcomes = []
      savedAt = performance.now()
      if (some.length > 0) await saveOutcomes(db, action.id, some)
      saved += some.length
      const [next] = await waitingItems(db, action.id, incarnation(), 1)
      isOver = next === undefined
    }
    const queue = items.values()
    const work = async () => {
      for (const item of queue) {
        if (signal.aborted || isOver || this.#halted.has(action.id)) return
        const outcome = await this.#item(action, item)
        if (outcome) outcomes.push(outcome)
        if (performance.now() - savedAt > SAVE_EVERY_MS) saving = saving.then(save)
        await saving
      }
    }
    await Promise.all(Array.from({ length: ACCOUNTS_AT_ONCE }, work))
    await save()
    return saved
  }

  /** Undefined if the outcome is unknown: the account stays waiting. */
  async #item(action: RunningAction, item: WaitingItem): Promise<ItemOutcome | undefined> {
    const { kind } = action
    const { position, credentialId, isGone } = item
    const gone = { position, code: kind === 'delete' ? null : 'not_found' }
    if (isGone) return gone
    const { signal } = this.#closing
    for (let tries = 1; ; tries++) {
      try {
        if (kind === 'relink') {
          await this.#options.makePage({ actionId: action.id, position }, credentialId)
        } else await this.#act(kind, credentialId)
        return { position, code: null }
      } catch (cause) {
        if (signal.aborted || cause instanceof OwnershipLost) return undefined
        if (!(cause instanceof RequestFailed)) {
          const { logger } = this.#options
          logger.error({ err: cause, credentialId, kind }, 'an account of an action failed')
          return { position, code: 'internal' }
        }
        const { code, reason } = cause.failure
        if (code === 'not_found') return gone
        // A deletion continues after its caller has left: a second call waits for the same end.
        const mayPass = code === 'unavailable' || code === 'timeout' || code === 'rate_limited'
        if (!mayPass) return { position, code: reason ?? code }
        if (tries >= TRIES)
          return isOfDatabase(reason) ? undefined : { position, code: reason ?? code }
        await pause(AGAIN_MS, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  /** A restart ends when the account is back or stays out for longer, so that not all accounts are out at once. */
  async #act(kind: Exclude<BulkKind, 'relink'>, credentialId: number): Promise<void> {
    const { credentials } = this.#options
    const { signal } = this.#closing
    const actor = await credentials.find(credentialId)
    if (kind === 'delete') {
      await actor.ask(
        { type: 'credential.delete' },
        AbortSignal.any([signal, AbortSignal.timeout(DELETE_MS)]),
      )
      return
    }
    await actor.ask({ type: 'credential.restart' }, signal)
    const back = credentials.ready(credentialId, () => signal.aborted)
    // The restart has succeeded; the state of the account afterwards is shown with the account.
    await unlessAborted(back, signal).catch(() => undefined)
  }
}

/** No fault of the account: it is tried again for as long as the action runs. */
const isOfDatabase = (reason: FailureReason | undefined): boolean =>
  reason === 'database_away' || reason === 'database_full' || reason === 'database_read_only'
