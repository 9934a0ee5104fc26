/** Closes polls when their time is over, and tells the chats that they stand as they are now. */
import type { Log } from '../../database/log.ts'
import type { World } from '../../platforms/sandbox/operations.ts'
import { closePoll } from './stop-poll.ts'

const LONGEST_MILLISECONDS = 3_600_000
const RETRY_MILLISECONDS = 5_000
const AT_ONCE = 100
/** A poll is opened before its message is sent, and closed only where it can be seen. */
const SENT_WITHIN_MILLISECONDS = 60_000
const UNSENT_MILLISECONDS = 200

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
      const now = this.#world.now()
      const [next] = await this.#world.db.query<{ at: Date | null }>(
        `select min(closes_at) as at from sandbox_poll
         where not is_closed and closes_at > to_timestamp($1)`,
        [(now - SENT_WITHIN_MILLISECONDS) / 1000],
      )
      const at = next?.at?.getTime()
      if (at !== undefined) this.note(at > now ? at : now + UNSENT_MILLISECONDS)
    } catch (error) {
      this.#log.warn({ err: error }, 'the sandbox could not close its polls')
      this.note(this.#world.now() + RETRY_MILLISECONDS)
    }
  }

  async #closeDue(): Promise<void> {
    let found = AT_ONCE
    while (found === AT_ONCE) {
      const due = await this.#world.db.query<{ id: number }>(
        `select id from sandbox_poll p
         where not is_closed and closes_at <= to_timestamp($1) and exists (
           select from sandbox_message
           where content ->> 'kind' = 'poll' and content #>> '{poll,id}' = p.id::text)
         order by closes_at limit ${AT_ONCE}`,
        [this.#world.now() / 1000],
      )
      for (const { id } of due) await closePoll(this.#world, `${id}`)
      found = due.length
    }
  }
}
