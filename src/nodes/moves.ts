/** Moves accounts of this node to the nodes at which they are placed: all of them if it drains, otherwise a few at a time. */
import type { Logger, Owned } from '../../actors/ports/ports.ts'
import { type Handover, handOver, handOverIdle } from './handover.ts'
import type { Nodes } from './nodes.ts'

const LOOK_MS = 1_000
/** The interval of checks while every account is in its place: a check of many accounts takes a while. */
const REST_MS = 10_000
/** The number of accounts to move at each check, so that a node that joins is filled slowly. */
const AT_ONCE = 20
/** The others take accounts once they have seen in a beat that this node does not. */
export const SEEN_AFTER_MS = 600

interface MovesOptions {
  readonly nodes: Pick<
    Nodes,
    | 'view'
    | 'isAlone'
    | 'hasSuccessors'
    | 'isPlacedHere'
    | 'isPinned'
    | 'hasPins'
    | 'refreshPins'
    | 'onMembersChanged'
  >
  readonly handover: Handover
  /** How long the nodes stay the same before anything moves that no operator has ordered. */
  readonly calmMs: number
  readonly logger: Logger
}

export class Moves {
  readonly #options: MovesOptions
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #changedAt = performance.now()
  #restsUntil = 0

  constructor(options: MovesOptions) {
    this.#options = options
    options.nodes.onMembersChanged(() => {
      this.#changedAt = performance.now()
      this.#restsUntil = 0
    })
  }

  start(): void {
    const again = () => {
      this.#looking = this.#look().finally(() => {
        if (!this.#closing.signal.aborted) this.#timer = setTimeout(again, LOOK_MS)
      })
    }
    this.#timer = setTimeout(again, LOOK_MS)
  }

  /** Work in progress is finished. */
  async stop(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    const { nodes, handover, logger } = this.#options
    const { signal } = this.#closing
    if (nodes.isAlone() || !nodes.hasSuccessors()) return
    const { state } = nodes.view()
    try {
      if (state === 'draining') await this.#drain()
      if (state !== 'up') return
      await nodes.refreshPins()
      const some = anyOf(this.#due(), AT_ONCE)
      if (some.length === 0 || signal.aborted) return
      const credentials = await handOverIdle(handover, some)
      if (credentials > 0) logger.info({ credentials }, 'credentials go to where they are placed')
    } catch (err) {
      logger.warn({ err }, 'credentials could not be moved')
    }
  }

  async #drain(): Promise<void> {
    const { handover, logger } = this.#options
    const owned = [...handover.owned()]
    if (owned.length === 0 || this.#unchangedMs < SEEN_AFTER_MS) return
    const credentials = await handOver(handover, owned, this.#closing.signal)
    logger.info({ credentials }, 'credentials were handed over by an order')
  }

  get #unchangedMs(): number {
    return performance.now() - this.#changedAt
  }

  /** Accounts that an operator has pinned elsewhere move at once. */
  #due(): Owned[] {
    const { nodes, handover, calmMs } = this.#options
    const isCalm = this.#unchangedMs >= Math.max(calmMs, SEEN_AFTER_MS)
    const looksAtAll = isCalm && performance.now() >= this.#restsUntil
    if (!looksAtAll && !nodes.hasPins()) return []
    const due = [...handover.owned()].filter(
      ({ credentialId }) =>
        (looksAtAll || nodes.isPinned(credentialId)) && !nodes.isPlacedHere(credentialId),
    )
    if (looksAtAll && due.length === 0) this.#restsUntil = performance.now() + REST_MS
    return due
  }
}

/** `count` consecutive items from a random start, so that accounts whose calls never end do not block the others. */
function anyOf<Item>(items: readonly Item[], count: number): Item[] {
  const start = Math.floor(Math.random() * items.length)
  return [...items.slice(start), ...items.slice(0, start)].slice(0, count)
}
