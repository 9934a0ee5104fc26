/** The service in a process of its own, started again whenever it ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const entry = join(import.meta.dirname, 'service.ts')

export class ServiceProcess {
  readonly #environment: NodeJS.ProcessEnv
  #child: ChildProcess | undefined
  #running: Promise<void> = Promise.resolve()
  #wanted = false
  /** Ends that nobody ordered, such as a start without a database. */
  failures = 0

  constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment
  }

  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error('the service does not run')
    return pid
  }

  start(): void {
    this.#wanted = true
    this.#running = this.#keepRunning()
  }

  /** Resolves once the process is gone; the next one is being started then. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  async stop(): Promise<void> {
    this.#wanted = false
    await this.kill()
    await this.#running
  }

  async #keepRunning() {
    while (this.#wanted) {
      const child = spawn(process.execPath, [entry], {
        env: this.#environment,
        // The pipe ends with us, and the service with the pipe.
        stdio: ['pipe', 'ignore', 'inherit'],
      })
      this.#child = child
      const [code] = await once(child, 'exit')
      if (code !== null) this.failures++
    }
  }
}
