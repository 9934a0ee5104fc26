/** What happens to the accounts all the time: people write to them and their bots send, each at a rate for all accounts together. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../support/client.ts'
import { randomOf } from './random.ts'

/** An account as the load sees it. */
interface Target {
  readonly credentialId: number
  readonly key: string
  /** Its name, as people write to it. */
  readonly to: string
  /** The person who writes to it, and to whom its bot sends. */
  readonly from: number
}

/** What was written to one account and sent by it. */
export class Traffic {
  readonly target: Target
  /** What was taken, in order. */
  readonly written: string[] = []
  /** What the bot was told to be sent. */
  readonly sent: string[] = []
  /** The connection was lost, or the answer said that nobody knows. */
  readonly unknown: string[] = []
  writes = 0
  sends = 0
  /** Resolves with the write under way: one after the other, or their order would mean nothing. */
  writing: Promise<boolean> | undefined
  isSending = false

  constructor(target: Target) {
    this.target = target
  }
}

interface LoadOptions {
  readonly client: Client
  readonly targets: readonly Target[]
  /** Of all accounts together. */
  readonly writesPerSecond: number
  readonly sendsPerSecond: number
  readonly seed: number
}

const WRITE_WITHIN_MS = 2_000
/** A load that falls behind does not catch up by a burst. */
const MOST_BEHIND_MS = 500
const PROBES_AT_ONCE = 32
const PROBED_AGAIN_MS = 50

export class Load {
  readonly traffic: readonly Traffic[]
  /** What was due while every account that could have taken it had a call under way. */
  skipped = 0
  readonly #options: LoadOptions
  readonly #over = new AbortController()
  readonly #calls = new Set<Promise<unknown>>()
  #running: Promise<unknown> = Promise.resolve()

  constructor(options: LoadOptions) {
    this.#options = options
    this.traffic = options.targets.map((target) => new Traffic(target))
  }

  start(): void {
    const { writesPerSecond, sendsPerSecond, seed } = this.#options
    this.#running = Promise.all([
      this.#atRate(
        writesPerSecond,
        randomOf(seed),
        (one) => one.writing === undefined,
        this.#write,
      ),
      this.#atRate(sendsPerSecond, randomOf(seed + 1), (one) => !one.isSending, this.#send),
    ])
  }

  async end(): Promise<void> {
    this.#over.abort()
    await this.#running
    await Promise.all(this.#calls)
  }

  /** Writes to each of these accounts as fast as it goes, until it is taken; what it does to them is then seen in the log. */
  async probe(credentialIds: Iterable<number>): Promise<void> {
    const ids = new Set(credentialIds)
    const left = this.traffic.filter(({ target }) => ids.has(target.credentialId))
    const work = async () => {
      for (let one = left.shift(); one; one = left.shift()) {
        while (!this.#over.signal.aborted) {
          while (one.writing) await one.writing
          if (await this.#write(one)) break
          await pause(PROBED_AGAIN_MS)
        }
      }
    }
    await Promise.all(Array.from({ length: PROBES_AT_ONCE }, work))
  }

  /** Times and accounts come from `random`; so one seed gives one load, as far as the machine can follow it. */
  async #atRate(
    perSecond: number,
    random: () => number,
    isFree: (one: Traffic) => boolean,
    call: (one: Traffic) => Promise<boolean>,
  ): Promise<void> {
    if (perSecond === 0 || this.traffic.length === 0) return
    const { signal } = this.#over
    for (let due = performance.now(); !signal.aborted; ) {
      due += (-Math.log(1 - random()) * 1_000) / perSecond
      const first = Math.floor(random() * this.traffic.length)
      const wait = due - performance.now()
      if (wait > 0) await pause(wait, undefined, { signal }).catch(() => undefined)
      due = Math.max(due, performance.now() - MOST_BEHIND_MS)
      if (signal.aborted) return
      const one = nextFree(this.traffic, first, isFree)
      if (!one) {
        this.skipped++
        continue
      }
      const running = call(one)
      this.#calls.add(running)
      void running.finally(() => this.#calls.delete(running))
    }
  }

  #write = (one: Traffic): Promise<boolean> => {
    const { client } = this.#options
    const { from, to } = one.target
    const text = `${++one.writes} to ${to}`
    const write = async () => {
      const answer = client.ask('POST', `/sandbox/people/${from}/messages`, { to, text })
      const over = new AbortController()
      const late = pause(WRITE_WITHIN_MS, undefined, { signal: over.signal })
      late.catch(() => undefined)
      // Nobody waits for a frozen process: what it may have taken does not count as written.
      const given = await Promise.race([answer, late]).catch(() => undefined)
      answer.catch(() => undefined)
      over.abort()
      const isTaken = given?.body?.ok === true
      if (isTaken) one.written.push(text)
      one.writing = undefined
      return isTaken
    }
    one.writing = write()
    return one.writing
  }

  #send = async (one: Traffic): Promise<boolean> => {
    const { client } = this.#options
    const { key, from, to } = one.target
    const text = `${++one.sends} from ${to}`
    one.isSending = true
    const answer = await client
      .bot(key, 'sendMessage', { chat_id: from, text })
      .catch(() => undefined)
    if (answer?.body?.ok) one.sent.push(text)
    else if (answer === undefined || answer.status === 504) one.unknown.push(text)
    one.isSending = false
    return answer?.body?.ok === true
  }
}

function nextFree(
  traffic: readonly Traffic[],
  first: number,
  isFree: (one: Traffic) => boolean,
): Traffic | undefined {
  for (let step = 0; step < traffic.length; step++) {
    const one = traffic[(first + step) % traffic.length]
    if (one && isFree(one)) return one
  }
  return undefined
}
