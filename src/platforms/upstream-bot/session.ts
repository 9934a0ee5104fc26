/** The session of one bot: polls updates, and passes calls on. */

import {
  type FileStream,
  handle,
  type LinkedAccount,
  type Session,
  type SessionReport,
} from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import { NOT_STORED } from '../kit/event-line.ts'
import { sessionOver, wrongFile } from '../kit/failures.ts'
import { Unanswered } from '../kit/http-client.ts'
import { type Ending, SessionLife } from '../kit/session-life.ts'
import { lostBy, type Restriction, reportRestriction, steadily } from '../kit/steadily.ts'
import type { BotApiClient } from './client.ts'
import { endingOf, Refused, requestFailed } from './failures.ts'
import type { Flavour } from './flavour.ts'
import { Updates, type WantedUpdates } from './poll.ts'

export interface SessionOptions {
  /** For calls and files; polls have connections of their own. */
  readonly client: BotApiClient
  readonly poller: BotApiClient
  readonly flavour: Flavour
  readonly wanted: WantedUpdates
  readonly logger: Logger
  readonly holdSeconds: number
  /** How many failures of the network in a row are forgiven before the session ends. */
  readonly forgives: number
}

/** Shorter waits are for one chat that was written to too fast; longer ones are for the bot. */
const CHAT_WAIT_SECONDS = 60

export class BotApiSession implements Session {
  readonly #report: SessionReport
  readonly #options: SessionOptions
  readonly #updates: Updates
  readonly #life: SessionLife
  /** Aborts without a reason, so that interrupted calls count as not answered. */
  readonly #calls = new AbortController()
  readonly #running: Promise<void>

  constructor(account: LinkedAccount, report: SessionReport, options: SessionOptions) {
    const { logger, flavour, poller } = options
    const { credentialId } = account
    this.#report = report
    this.#options = options
    this.#life = new SessionLife({
      report,
      logger,
      facts: { platform: flavour.id, credentialId },
      release: async () => {
        this.#calls.abort()
        options.client.end()
        poller.end()
      },
    })
    const self = account.identity.native
    const poll = { ...options, client: poller, report, self, credentialId }
    this.#updates = new Updates(poll, account.checkpoint)
    this.#running = this.#run().catch((cause) => this.#end(leavingFor(cause), cause))
  }

  async perform(
    operation: Operation,
    requestId: string,
    signal: AbortSignal,
  ): Promise<OperationResult> {
    const { client, flavour } = this.#options
    this.#assertLive()
    const learn = (refused: Refused) => this.#learn(refused)
    try {
      const context = { client, flavour, requestId, signal, learn }
      return await handle(flavour.handlers, flavour.name, context, operation)
    } catch (cause) {
      if (cause instanceof RequestFailed) throw cause
      this.#learn(cause)
      throw requestFailed(cause, flavour.name)
    }
  }

  async probe(signal: AbortSignal): Promise<number> {
    this.#assertLive()
    const started = performance.now()
    try {
      await this.#options.client.me({ signal })
    } catch (cause) {
      this.#learn(cause)
      throw cause
    }
    return performance.now() - started
  }

  /** Files are asked for by their paths only. */
  async download(): Promise<FileStream> {
    throw wrongFile()
  }

  async passFile(...[path, request, signal]: Parameters<NonNullable<Session['passFile']>>) {
    const { client, flavour } = this.#options
    try {
      this.#assertLive()
      const either = AbortSignal.any([signal, this.#calls.signal])
      return await client.file(safe(path), request, either)
    } catch (cause) {
      if (cause instanceof RequestFailed) throw cause
      this.#learn(cause)
      throw requestFailed(cause, flavour.name)
    }
  }

  /** A token stays valid until its owner replaces it: there is nothing to sign out of. */
  async close(): Promise<void> {
    await this.#life.close()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#calls
    const { client, forgives } = this.#options
    const report = this.#report
    const steadiness = { report, signal, endingOf, forgives, isForgivable: isOfNetwork }
    let askedAt = 0
    const ask = () => {
      askedAt = performance.now()
      return client.me({ signal })
    }
    const account = await steadily(ask, steadiness)
    report.opened(account, performance.now() - askedAt)
    await this.#updates.run(steadiness)
  }

  /** A refusal may concern the bot itself: its token or a restriction. */
  #learn(cause: unknown) {
    if (!(cause instanceof Refused) || this.#life.isOver) return
    const ending = endingOf(cause)
    if (cause.code === 401) this.#end(ending, cause)
    if (ending.kind !== 'limited') return
    reportRestriction(this.#report, ending.seconds, CHAT_WAIT_SECONDS)
  }

  #assertLive(): void {
    if (this.#life.isOver) throw sessionOver()
  }

  #end(ending: Ending | Restriction, cause: unknown) {
    this.#life.end(lostBy(ending), cause)
  }
}

/** A path that cannot leave the files of the bot. */
function safe(path: string): string {
  const steps = path.split('/')
  if (steps.some((step) => /^\.{0,2}$/.test(step))) throw failed('not_found')
  return steps.map(encodeURIComponent).join('/')
}

/** False for failures of our own storage. */
const isOfNetwork = (cause: unknown) => cause instanceof Refused || cause instanceof Unanswered

/** Events that could not be stored, or a defect, end the session as well. */
const leavingFor = (cause: unknown): Ending | Restriction =>
  isOfNetwork(cause) ? endingOf(cause) : NOT_STORED
