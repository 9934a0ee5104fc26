/** A durable PostgreSQL of the test's own that can be crashed: back at once, on the same port. */
import {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/database/embedded.ts'

export class PostgresProcess {
  readonly #options: EmbeddedOptions
  #server: EmbeddedPostgres

  private constructor(options: EmbeddedOptions, server: EmbeddedPostgres) {
    this.#options = options
    this.#server = server
  }

  static async start(options: EmbeddedOptions): Promise<PostgresProcess> {
    const server = await startEmbeddedPostgres(options)
    return new PostgresProcess({ ...options, port: server.port }, server)
  }

  url(): string {
    return this.#server.url()
  }

  /** Resolves once the next one takes connections. */
  async crash(): Promise<void> {
    process.kill(this.#server.pid, 'SIGKILL')
    await this.#server.onExit
    this.#server = await startEmbeddedPostgres(this.#options)
  }

  async stop(): Promise<void> {
    await this.#server.stop()
  }
}
