/** Carries out actions on many accounts: each node for the accounts that it owns, so that who takes an account over goes on with it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { CredentialActor } from '../../actors/credential/actor.ts'
import type { Logger } from '../../actors/ports/ports.ts'
import { OwnershipLost, RequestFailed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import {
  type BulkKind,
  type ItemOutcome,
  type RunningAction,
  runningActions,
  saveOutcomes,
  type WaitingItem,
  waitingItems,
} from './actions.ts'

/** Actions beside each other, and accounts of each. */
const ACTIONS_AT_ONCE = 8
const ACCOUNTS_AT_ONCE = 20
const PAGE = 500
/** What was done is written this often: so much is done twice after a crash. */
const SAVE_EVERY_MS = 250
/** Another node may have begun an action, or an account may have come here. */
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

/** As it is told to other nodes. */
export type BulkChange = Readonly<{ actionId: number; isRunning: boolean }>

export class BulkRunner {
  readonly #options: RunnerOptions
  readonly #closing = new AbortController()
  readonly #closed: Promise<void>
  readonly #walks = new Map<number, Promise<void>>()
  /** Actions that were stopped while they are walked: no further account is begun. */
  readonly #halted = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(options: RunnerOptions) {
    this.#options = options
    const { signal } = this.#closing
    this.#closed = new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
  }

  /** Goes on with what was interrupted. */
  start(): void {
    this.poke()
    this.#timer = setInterval(() => this.poke(), LOOK_EVERY_MS)
  }

  /** There may be something to do. */
  poke(): void {
    this.#looking = this.#looking.then(() => this.#look())
  }

  /** An action was begun, stopped, or told to go on. Who misses it sees it in the database a little later. */
  changed({ actionId, isRunning }: BulkChange): void {
    if (isRunning) this.poke()
    else if (this.#walks.has(actionId)) this.#halted.add(actionId)
  }

  /** Accounts that are under way are left, and are done again by whoever owns them next. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#looking
    await Promise.all(this.#walks.values())
  }

  async #look(): Promise<void> {
    const { db, logger } = this.#options
    if (this.#closing.signal.aborted) return
    try {
      for (const action of await runningActions(db, 100)) {
        if (this.#walks.size >= ACTIONS_AT_ONCE) return
        if (this.#walks.has(action.id)) continue
        const walk = this.#walk(action)
          .catch((err) => logger.error({ err, action: action.id }, 'an action was interrupted'))
          .then(() => {
            this.#walks.delete(action.id)
            // It may have been told to go on meanwhile.
            if (this.#halted.delete(action.id)) this.poke()
          })
        this.#walks.set(action.id, walk)
      }
    } catch (err) {
      logger.warn({ err }, 'actions on accounts were not looked for')
    }
  }

  /** Ends when nothing of it is left for this node, or when it was stopped. */
  async #walk(action: RunningAction): Promise<void> {
    const { db, incarnation } = this.#options
    const { signal } = this.#closing
    while (!signal.aborted && !this.#halted.has(action.id)) {
      const items = await waitingItems(db, action.id, incarnation(), PAGE)
      const saved = await this.#page(action, items)
      if (saved === 0) return
    }
  }

  /** Resolves with how many have an outcome now. A stop that was not told is seen where outcomes are saved. */
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

  /** Undefined where it is not known: it stays waiting. */
  async #item(action: RunningAction, item: WaitingItem): Promise<ItemOutcome | undefined> {
    const { kind } = action
    const { position, credentialId, isGone } = item
    const gone = { position, code: kind === 'delete' ? null : 'not_found' }
    if (isGone) return gone
    for (let tries = 1; ; tries++) {
      try {
        if (kind === 'relink') {
          await this.#options.makePage({ actionId: action.id, position }, credentialId)
        } else await this.#act(kind, credentialId)
        return { position, code: null }
      } catch (cause) {
        if (this.#closing.signal.aborted || cause instanceof OwnershipLost) return undefined
        if (!(cause instanceof RequestFailed)) {
          const { logger } = this.#options
          logger.error({ err: cause, credentialId, kind }, 'an account of an action failed')
          return { position, code: 'internal' }
        }
        const { code, reason } = cause.failure
        if (code === 'not_found') return gone
        // A deletion goes on after its caller has left: the next one waits for the same end.
        const mayPass = code === 'unavailable' || code === 'timeout' || code === 'rate_limited'
        if (!mayPass || tries >= TRIES) return { position, code: reason ?? code }
        await Promise.race([pause(AGAIN_MS), this.#closed])
      }
    }
  }

  /** A restart is over when the account is back or stays out for longer: not all of them are away at once. */
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
    // What the account became is its own to show; the restart itself has succeeded.
    await Promise.race([back.catch(() => undefined), this.#closed])
  }
}
