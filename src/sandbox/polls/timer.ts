/** Closes polls when their time is over. */
import type { PollTimer, Services } from '../network/context.ts'
import { closePoll } from './polls.ts'

const LONGEST_MILLISECONDS = 3_600_000
const RETRY_MILLISECONDS = 5_000
const AT_ONCE = 100
/** A poll is opened before its message is sent. Only a poll with a message is closed: others are tried again for a while. */
const SENT_WITHIN_MILLISECONDS = 60_000
const UNSENT_MILLISECONDS = 200

type Needed = Pick<Services, 'db' | 'wake' | 'now' | 'logger'>

export class DuePolls implements PollTimer {
  readonly #services: Needed
  #timer: NodeJS.Timeout | undefined
  #at = Number.POSITIVE_INFINITY
  #closing: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(services: Needed) {
    this.#services = services
  }

  schedule(at: number): void {
    if (at >= this.#at || this.#isOver) return
    this.#reset()
    this.#at = at
    const wait = Math.min(Math.max(0, at - this.#services.now()), LONGEST_MILLISECONDS)
    this.#timer = setTimeout(() => this.closeDue(), wait).unref()
  }

  /** Closes the polls that are due, and sets the timer for the next one. */
  closeDue(): void {
    this.#reset()
    this.#closing = this.#closing.then(() => this.#closeAll())
  }

  async close(): Promise<void> {
    this.#isOver = true
    this.#reset()
    await this.#closing
  }

  #reset(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#at = Number.POSITIVE_INFINITY
  }

  async #closeAll(): Promise<void> {
    try {
      await this.#closeFound()
      const now = this.#services.now()
      const [next] = await this.#services.db.query<{ at: Date | null }>(
        `select min(closes_at) as at from sandbox_poll
         where not is_closed and closes_at > to_timestamp($1)`,
        [(now - SENT_WITHIN_MILLISECONDS) / 1000],
      )
      const at = next?.at?.getTime()
      if (at !== undefined) this.schedule(at > now ? at : now + UNSENT_MILLISECONDS)
    } catch (error) {
      this.#services.logger.warn({ err: error }, 'the sandbox could not close its polls')
      this.schedule(this.#services.now() + RETRY_MILLISECONDS)
    }
  }

  async #closeFound(): Promise<void> {
    let found = AT_ONCE
    while (found === AT_ONCE) {
      const due = await this.#services.db.query<{ id: number }>(
        `select id from sandbox_poll p
         where not is_closed and closes_at <= to_timestamp($1) and exists (
           select from sandbox_message
           where content ->> 'kind' = 'poll' and content #>> '{poll,id}' = p.id::text)
         order by closes_at limit ${AT_ONCE}`,
        [this.#services.now() / 1000],
      )
      for (const { id } of due) await closePoll(this.#services, `${id}`)
      found = due.length
    }
  }
}
