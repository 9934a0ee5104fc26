/** A durable PostgreSQL of the test's own that can be crashed: back at once, on the same port. */

import { isAlive } from '../../src/database/embedded/processes.ts'
import type { EmbeddedOptions } from '../../src/database/embedded/setup.ts'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/database/embedded/supervisor.ts'

export class PostgresProcess {
  readonly #options: EmbeddedOptions
  #server: EmbeddedPostgres
  #isHalted = false

  private constructor(options: EmbeddedOptions, server: EmbeddedPostgres) {
    this.#options = options
    this.#server = server
  }

  static async start(options: EmbeddedOptions): Promise<PostgresProcess> {
    const server = await startEmbeddedPostgres(options)
    return new PostgresProcess({ ...options, port: server.port }, server)
  }

  get pid(): number {
    return this.#server.pid
  }

  /** Names the service's database when left out. */
  url(database?: string): string {
    return this.#server.url(database)
  }

  /** Resolves once the next one takes connections. */
  async crash(): Promise<void> {
    process.kill(this.#server.pid, 'SIGKILL')
    await this.#server.onExit
    this.#server = await startEmbeddedPostgres(this.#options)
  }

  /** Stops it, to be revived. */
  async halt(): Promise<void> {
    await this.#server.stop()
    this.#isHalted = true
  }

  /** Starts it again where it was halted, or has ended by itself. */
  async revive(): Promise<void> {
    const hasEnded = this.#isHalted || !(await isAlive(this.#server.pid))
    if (hasEnded) this.#server = await startEmbeddedPostgres(this.#options)
    this.#isHalted = false
  }

  async stop(): Promise<void> {
    await this.#server.stop()
  }
}
