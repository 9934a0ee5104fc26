/** How many credentials may be connecting at once, service-wide: a restart is not a stampede. */
export class StartBudget {
  readonly #size: number
  readonly #queue = new Set<() => void>()
  #running = 0

  constructor(size: number) {
    this.#size = size
  }

  /** Calls `granted` when it is this one's turn; the returned function gives the turn back, or the place in the queue. */
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
