/** Moves accounts of this node to where they are placed: all of them when it is told to drain, else a few at a time. */
import type { Logger, Owned } from '../../actors/ports/ports.ts'
import { type Handover, handOver, handOverIdle } from './handover.ts'
import type { Nodes } from './nodes.ts'

const LOOK_MS = 1_000
/** At each look: whoever joins is filled calmly. */
const AT_ONCE = 20
/** The others take accounts once they have seen in a beat that this node does not. */
const SEEN_AFTER_MS = 600

interface MovesOptions {
  readonly nodes: Pick<
    Nodes,
    | 'view'
    | 'isAlone'
    | 'hasSuccessors'
    | 'isPlacedHere'
    | 'isPinned'
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

  constructor(options: MovesOptions) {
    this.#options = options
    options.nodes.onMembersChanged(() => {
      this.#changedAt = performance.now()
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

  /** What is under way is finished. */
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
      const some = this.#due().slice(0, AT_ONCE)
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

  /** What an operator has placed elsewhere goes at once. */
  #due(): Owned[] {
    const { nodes, handover, calmMs } = this.#options
    const isCalm = this.#unchangedMs >= Math.max(calmMs, SEEN_AFTER_MS)
    const due: Owned[] = []
    for (const owned of handover.owned()) {
      const { credentialId } = owned
      if (!isCalm && !nodes.isPinned(credentialId)) continue
      if (!nodes.isPlacedHere(credentialId)) due.push(owned)
    }
    return due
  }
}
