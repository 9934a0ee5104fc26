/** Brings the service back after an unexpected end, more slowly each time, and gives up where that is of no use. */
import { setTimeout as pause } from 'node:timers/promises'
import { endOfChild } from './child.mjs'
import { isOrder, takeOrders } from './orders.mjs'

/** The service's own word on why it ended (sysexits.h); `src/process/fatal-errors.ts` has the same. */
const MISCONFIGURED = 78
const CANNOT_START = 69

const usual = { firstPauseMs: 500, longestPauseMs: 15_000, mostEnds: 5, withinMs: 60_000 }

const howItEnded = ({ code, signal }) => (signal ? `by ${signal}` : `with exit code ${code}`)

/** Resolves early when there is an order. */
async function pauseUnlessOrdered(milliseconds, orders) {
  const early = new AbortController()
  const unfollow = orders.follow(() => early.abort())
  await pause(milliseconds, undefined, { signal: early.signal }).catch(() => undefined)
  unfollow()
}

/**
 * A service that could not start at all is not started again: its operator is there to read why. One that ran is, for as
 * long as what it misses stays away.
 *
 * @param {[file: string, args: readonly string[], options: import('node:child_process').SpawnOptions]} child
 * @param {(line: string) => void} say
 * @param {Partial<typeof usual>} timing
 * @returns {Promise<number>} the exit code
 */
export async function keepRunning([file, args, options], say, timing = {}) {
  const { firstPauseMs, longestPauseMs, mostEnds, withinMs } = { ...usual, ...timing }
  const orders = takeOrders()
  let ends = []
  let pauseMs = firstPauseMs
  let hasRun = false
  try {
    for (;;) {
      const startedAt = performance.now()
      const end = await endOfChild(file, args, options, orders)
      const { code, signal } = end
      if (orders.given || isOrder(signal) || code === 0 || code === MISCONFIGURED) return code
      if (code === CANNOT_START && !hasRun) return code
      const now = performance.now()
      if (now - startedAt > withinMs) pauseMs = firstPauseMs
      if (code !== CANNOT_START) {
        hasRun = true
        ends = [...ends.filter((at) => now - at < withinMs), now]
      }
      if (ends.length >= mostEnds) {
        const times = `${ends.length} times within ${withinMs / 1000} s`
        say(`the service ended ${howItEnded(end)}, ${times}: given up`)
        return code
      }
      say(`the service ended ${howItEnded(end)}; it is started again in ${pauseMs / 1000} s`)
      await pauseUnlessOrdered(pauseMs, orders)
      if (orders.given) return code
      pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    }
  } finally {
    orders.close()
  }
}
