/** Sends the notifications of the outbox. Each node claims some rows, one node claims each row, and a crash only delays it. */
import type { Logger } from '../../actors/ports/ports.ts'
import type { Database } from '../database/database.ts'
import { type ChannelParts, NotTold, tellBy } from './channels.ts'
import {
  claimDue,
  type Due,
  type FailedAttempt,
  returnNotification,
  settleNotification,
} from './outbox.ts'
import type { AlertSettingsStore } from './settings.ts'

const LOOK_EVERY_MS = 5_000
const AT_ONCE = 20

interface NotifierOptions {
  readonly db: Database
  readonly settings: Pick<AlertSettingsStore, 'find'>
  readonly channels: ChannelParts
  readonly logger: Logger
  incarnation(): number | null
  now(): number
}

export class Notifier {
  readonly #options: NotifierOptions
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(options: NotifierOptions) {
    this.#options = options
  }

  start(): void {
    this.poke()
    this.#timer = setInterval(() => this.poke(), LOOK_EVERY_MS)
  }

  /** There may be something to send. */
  poke(): void {
    this.#looking = this.#looking.then(async () => {
      await this.sendDue().catch((err) =>
        this.#options.logger.warn({ err }, 'notifications were not looked for'),
      )
    })
  }

  /** Interrupts attempts in progress and returns them to the outbox. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#looking
  }

  /** Sends all that is due now. */
  async sendDue(): Promise<void> {
    const { db, incarnation } = this.#options
    while (!this.#closing.signal.aborted) {
      const now = new Date(this.#options.now())
      const due = await claimDue(db, { now, incarnation: incarnation(), limit: AT_ONCE })
      await Promise.all(due.map((one) => this.#send(one)))
      if (due.length < AT_ONCE) return
    }
  }

  async #send(due: Due): Promise<void> {
    const { db, logger, now } = this.#options
    const failure = await this.#attempt(due)
    const ended = new Date(now())
    if (failure && this.#closing.signal.aborted) {
      await returnNotification(db, due, ended)
      return
    }
    const state = await settleNotification(db, due, failure, ended)
    const { id, channel, attempts } = due
    if (state === 'lost') logger.warn({ id, channel, attempts, failure }, 'a notification is lost')
  }

  async #attempt(due: Due): Promise<FailedAttempt | undefined> {
    const { settings, channels, logger } = this.#options
    try {
      const { targets } = await settings.find(due.user_id)
      await tellBy[due.channel](due, targets, channels, this.#closing.signal)
      return undefined
    } catch (err) {
      if (err instanceof NotTold) return err.failure
      logger.error({ err, id: due.id, channel: due.channel }, 'a notification was not sent')
      return { code: 'internal', detail: null, isFinal: false }
    }
  }
}
