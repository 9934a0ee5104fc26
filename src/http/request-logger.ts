/** The log of one request, made when there is something to say: most requests say nothing. */
import type { FastifyBaseLogger } from 'fastify'

export class RequestLogger implements FastifyBaseLogger {
  readonly #log: FastifyBaseLogger
  readonly #bindings: object

  constructor(log: FastifyBaseLogger, bindings: object) {
    this.#log = log
    this.#bindings = bindings
  }

  get level(): string {
    return this.#log.level
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line)
  }

  error(...line: unknown[]): void {
    this.#write('error', line)
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line)
  }

  info(...line: unknown[]): void {
    this.#write('info', line)
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line)
  }

  trace(...line: unknown[]): void {
    this.#write('trace', line)
  }

  silent(): void {
    // Nothing is written at this level.
  }

  child(...given: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#log.child(this.#bindings).child(...given)
  }

  #write(level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace', line: unknown[]): void {
    const own = this.#log.child(this.#bindings)
    Reflect.apply(own[level], own, line)
  }
}
