/** Closes polls when their time is over, and tells the chats that they stand as they are now. */
import type { Log } from '../../database/log.ts'
import type { World } from './operations.ts'
import { closePoll } from './stop-poll.ts'

const LONGEST_MILLISECONDS = 3_600_000
const RETRY_MILLISECONDS = 5_000
const AT_ONCE = 100

type Surroundings = Pick<World, 'db' | 'wake' | 'now'>

export class Closing {
  readonly #world: Surroundings
  readonly #log: Log
  #timer: NodeJS.Timeout | undefined
  #at = Number.POSITIVE_INFINITY
  #looking: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(world: Surroundings, log: Log) {
    this.#world = world
    this.#log = log
  }

  /** Something is to be closed at this time, in Unix milliseconds. */
  note(at: number): void {
    if (at >= this.#at || this.#isOver) return
    this.#reset()
    this.#at = at
    const wait = Math.min(Math.max(0, at - this.#world.now()), LONGEST_MILLISECONDS)
    this.#timer = setTimeout(() => this.look(), wait).unref()
  }

  /** Closes what is due, and waits for what comes next. */
  look(): void {
    this.#reset()
    this.#looking = this.#looking.then(() => this.#look())
  }

  async close(): Promise<void> {
    this.#isOver = true
    this.#reset()
    await this.#looking
  }

  #reset(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#at = Number.POSITIVE_INFINITY
  }

  async #look(): Promise<void> {
    try {
      await this.#closeDue()
      const [next] = await this.#world.db.query<{ at: Date | null }>(
        'select min(closes_at) as at from sandbox_poll where not is_closed',
      )
      if (next?.at) this.note(next.at.getTime())
    } catch (error) {
      this.#log.warn({ err: error }, 'the sandbox could not close its polls')
      this.note(this.#world.now() + RETRY_MILLISECONDS)
    }
  }

  async #closeDue(): Promise<void> {
    const due = await this.#world.db.query<{ id: number }>(
      `select id from sandbox_poll where not is_closed and closes_at <= to_timestamp($1)
       order by closes_at limit ${AT_ONCE}`,
      [this.#world.now() / 1000],
    )
    for (const { id } of due) await closePoll(this.#world, `${id}`)
  }
}
