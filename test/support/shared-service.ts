/** One service for many tests, as to start one costs more than most of them. Each signs in as somebody new, with a network of its own. */
import { type Service, startService } from './service.ts'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

/**
 * Without what others would notice. Wrong keys are counted by address, so a test that guesses more than a few begins a
 * service of its own.
 */
export type SharedService = Omit<Service, 'gateway' | 'restart'>

/** Accounts that tests leave behind cost time: after so many tests the next begin with a fresh service. */
const USES = 10
/** Nobody may need it any more: it would only take time from the tests of other rooms. */
const IDLE_MS = 2_000

class Shared {
  readonly service: Promise<Service>
  readonly #works: (() => Promise<void> | void)[] = []
  #uses = 0
  #users = 0
  #idle: NodeJS.Timeout | undefined
  #stopped: Promise<void> | undefined

  constructor() {
    this.service = startService({ teardown: (work) => this.#works.unshift(work) })
  }

  join(t: Testing): Promise<SharedService> {
    clearTimeout(this.#idle)
    this.#uses++
    this.#users++
    t.teardown(async () => {
      if (--this.#users > 0) return
      if (this.#uses >= USES) await this.stop()
      else this.#idle = setTimeout(() => void this.stop(), IDLE_MS).unref()
    })
    return this.service
  }

  get mayBeJoined(): boolean {
    return !this.#stopped && this.#uses < USES
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#idle)
    for (const work of this.#works) await work()
  }
}

let current: Shared | undefined

export async function joinService(t: Testing): Promise<SharedService> {
  if (!current?.mayBeJoined) {
    const shared = new Shared()
    current = shared
    // Loaded only here: in a tool that is no test it would fail after half a minute for want of one.
    const { default: root } = await import('tap')
    root.teardown(() => shared.stop())
  }
  return await current.join(t)
}
