/** One service for many tests, as to start one costs more than most of them. Each signs in as somebody new, with a network of its own. */
import root from 'tap'
import { type Service, startService } from './service.ts'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

/** Without what others would notice. */
export type SharedService = Omit<Service, 'gateway' | 'restart'>

/** Accounts that tests leave behind cost time: after so many tests the next begin with a fresh service. */
const USES = 10

class Shared {
  readonly service: Promise<Service>
  uses = 0
  readonly #works: (() => Promise<void> | void)[] = []
  #users = 0
  #isStopped = false

  constructor() {
    this.service = startService({ teardown: (work) => this.#works.unshift(work) })
  }

  join(t: Testing): Promise<SharedService> {
    this.uses++
    this.#users++
    t.teardown(async () => {
      this.#users--
      if (this.uses >= USES && this.#users === 0) await this.stop()
    })
    return this.service
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    for (const work of this.#works) await work()
  }
}

let current: Shared | undefined

export async function joinService(t: Testing): Promise<SharedService> {
  if (current === undefined || current.uses >= USES) {
    current = new Shared()
    root.teardown(() => current?.stop())
  }
  return await current.join(t)
}
