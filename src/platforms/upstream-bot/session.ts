/** One bot, live: updates are taken as they come, operations become calls. */

import type {
  FileStream,
  LinkedAccount,
  Session,
  SessionReport,
} from '../../../actors/ports/platform.ts'
import { handle } from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import { RequestFailed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import type { MediaService } from '../../media/media.ts'
import { NOT_STORED } from '../kit/event-line.ts'
import { sessionOver } from '../kit/failures.ts'
import { type Ending, SessionLife } from '../kit/session-life.ts'
import { lostBy, type Restriction, steadily } from '../kit/steadily.ts'
import type { Client } from './client.ts'
import { endingOf, Refused, requestFailed, Unanswered } from './failures.ts'
import type { Flavour } from './flavour.ts'
import { Updates } from './poll.ts'
import { Context } from './writing/context.ts'

export interface SessionOptions {
  readonly client: Client
  readonly flavour: Flavour
  readonly media: Pick<MediaService, 'open' | 'facts'>
  readonly log: Logger
  readonly holdSeconds: number
  /** How many failures of the network in a row are passed over before anybody is told. */
  readonly forgives: number
}

/** Shorter waits are for one chat that was written to too fast; longer ones are for the bot. */
const CHAT_WAIT_SECONDS = 60

export class BotApiSession implements Session {
  readonly #account: LinkedAccount
  readonly #report: SessionReport
  readonly #options: SessionOptions
  readonly #updates: Updates
  readonly #life: SessionLife
  /** Has no reason of its own: calls that it cuts short count as not answered. */
  readonly #calls = new AbortController()
  readonly #running: Promise<void>

  constructor(account: LinkedAccount, report: SessionReport, options: SessionOptions) {
    this.#account = account
    this.#report = report
    this.#options = options
    const { log, flavour } = options
    this.#life = new SessionLife({
      report,
      log,
      facts: { platform: flavour.id, credentialId: account.credentialId },
      release: async () => this.#calls.abort(),
    })
    const self = account.identity.native
    this.#updates = new Updates({ ...options, report, self }, account.checkpoint)
    this.#running = this.#run().catch((cause) => this.#end(leavingFor(cause), cause))
  }

  async perform(
    operation: Operation,
    requestId: string,
    signal: AbortSignal,
  ): Promise<OperationResult> {
    const { client, flavour, media } = this.#options
    const self = this.#account.identity.native
    const within = this.#within(signal)
    try {
      const context = new Context({
        client,
        dialect: flavour,
        media,
        self,
        requestId,
        signal: within,
      })
      return await handle(flavour.handlers, flavour.name, context, operation)
    } catch (cause) {
      if (cause instanceof RequestFailed) throw cause
      this.#learn(cause)
      throw requestFailed(cause, flavour.name)
    }
  }

  async probe(signal: AbortSignal): Promise<number> {
    const started = performance.now()
    try {
      await this.#options.client.me({ signal: this.#within(signal) })
    } catch (cause) {
      this.#learn(cause)
      throw cause
    }
    return performance.now() - started
  }

  async download(file: string, offset: number, signal: AbortSignal): Promise<FileStream> {
    try {
      return await this.#options.client.download(file, offset, this.#within(signal))
    } catch (cause) {
      if (cause instanceof RequestFailed) throw cause
      throw requestFailed(cause, this.#options.flavour.name)
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
    report.opened(await steadily(() => client.me({ signal }), steadiness))
    for (;;) await steadily(() => this.#updates.poll(signal), steadiness)
  }

  /** What an answer to a request says of the bot itself. */
  #learn(cause: unknown) {
    if (!(cause instanceof Refused) || this.#life.isOver) return
    const ending = endingOf(cause)
    if (cause.code === 401) this.#end(ending, cause)
    if (ending.kind === 'limited' && ending.seconds > CHAT_WAIT_SECONDS) {
      this.#report.limited('flood_wait', ending.seconds)
    }
  }

  #within(signal: AbortSignal): AbortSignal {
    if (this.#life.isOver) throw sessionOver()
    return AbortSignal.any([signal, this.#calls.signal])
  }

  #end(ending: Ending | Restriction, cause: unknown) {
    this.#life.end(lostBy(ending), cause)
  }
}

/** A log that does not store is no failure of the network's. */
const isOfNetwork = (cause: unknown) => cause instanceof Refused || cause instanceof Unanswered

const leavingFor = (cause: unknown) => (isOfNetwork(cause) ? endingOf(cause) : NOT_STORED)
