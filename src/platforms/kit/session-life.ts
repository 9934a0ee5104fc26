/** The end of a session: it happens once, aborts requests in progress, releases the connection, and is reported. */
import { limited } from '../../../actors/host/time.ts'
import type { SessionReport } from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import type { Reason } from '../../../machines/model/reason.ts'

/** How a session ends, as it is reported. */
export type Ending =
  /** `retryAfterSeconds`: the network sent the account away, so coming back at once would not help. */
  | { readonly kind: 'lost'; readonly reason: Reason; readonly retryAfterSeconds?: number }
  | { readonly kind: 'replaced' }
  | { readonly kind: 'revoked'; readonly reason: Reason; readonly mayPass?: true }
  | { readonly kind: 'invalid'; readonly reason: Reason }

interface SessionLifeOptions {
  readonly report: SessionReport
  readonly logger: Logger
  /** Names the session in the log. */
  readonly facts: object
  /** Lets go of the connection and of those who wait. Called once, after `signal` has aborted. */
  release(cause: unknown): Promise<void>
}

export class SessionLife {
  readonly #options: SessionLifeOptions
  readonly #ending = new AbortController()

  constructor(options: SessionLifeOptions) {
    this.#options = options
  }

  get isOver(): boolean {
    return this.#ending.signal.aborted
  }

  /** Aborts when the session is over, with the cause of the end as its reason. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Aborts with the caller's signal or the end of the session: for what goes on after its call, as a stream does. */
  within(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#ending.signal])
  }

  /** Runs `work` with a signal that aborts with the caller's or with the end of the session. */
  during<Result>(
    signal: AbortSignal,
    work: (either: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    return limited([signal, this.#ending.signal], Number.POSITIVE_INFINITY, work)
  }

  /** Ends without a report: its owner closes the session. Resolves once the connection is released. */
  async close(): Promise<void> {
    if (this.isOver) return
    const cause = new Error('The session is closed')
    this.#ending.abort(cause)
    await this.#options.release(cause)
  }

  /** Ends and reports. Only the first end counts. */
  end(ending: Ending, cause?: unknown): void {
    if (this.isOver) return
    const { report, logger, facts, release } = this.#options
    logger.info({ ...facts, err: cause, ending }, 'the session ended')
    this.#ending.abort(cause)
    release(cause).catch((err) => logger.warn({ ...facts, err }, 'the session did not close'))
    reportEnding(report, ending)
  }
}

export function reportEnding(report: SessionReport, ending: Ending): void {
  if (ending.kind === 'replaced') report.replaced()
  else if (ending.kind === 'revoked' && ending.mayPass) report.revoked(ending.reason, true)
  else if (ending.kind === 'revoked') report.revoked(ending.reason)
  else if (ending.kind === 'invalid') report.invalid(ending.reason)
  else report.lost(ending.reason, ending.retryAfterSeconds)
}

/**
 * Settles as `work` does, or rejects with the signal's reason, even if the work ignores the signal. Work that is given
 * up ends unobserved.
 */
export async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(signal.reason)
  if (signal.aborted) giveUp()
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
    work.catch(() => undefined)
  }
}
