/** Reminders that the queue did not take: they are kept here, given when they are due, and handed over when it is back. */
import type { Reminder } from './jobs.ts'

const LONGEST_MS = 2 ** 31 - 1

interface Kept {
  readonly reminder: Reminder
  readonly timer: NodeJS.Timeout
}

export class Meanwhile {
  readonly #due: (reminder: Reminder) => void
  readonly #kept = new Map<string, Kept>()

  constructor(due: (reminder: Reminder) => void) {
    this.#due = due
  }

  get size(): number {
    return this.#kept.size
  }

  /** Only the latest of each target. */
  keep(reminder: Reminder): void {
    const target = targetOf(reminder)
    clearTimeout(this.#kept.get(target)?.timer)
    const give = () => {
      this.#kept.delete(target)
      this.#due(reminder)
    }
    const left = Math.max(0, reminder.at.getTime() - Date.now())
    // Early is allowed: whoever is reminded looks at the facts and asks for the next one.
    const timer = setTimeout(give, Math.min(left, LONGEST_MS)).unref()
    this.#kept.set(target, { reminder, timer })
  }

  /** A later one was taken by the queue. */
  forget(reminder: Reminder): void {
    const target = targetOf(reminder)
    clearTimeout(this.#kept.get(target)?.timer)
    this.#kept.delete(target)
  }

  /** All of them; none is kept any more. */
  take(): Reminder[] {
    const all = [...this.#kept.values()]
    for (const { timer } of all) clearTimeout(timer)
    this.#kept.clear()
    return all.map(({ reminder }) => reminder)
  }
}

const targetOf = ({ kind, id }: Reminder) => `${kind}/${id}`
