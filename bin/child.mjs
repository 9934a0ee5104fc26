/** Runs one child process, passes signals on to it, and reports how it ended. */
import { spawn } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'
import { takeOrders } from './orders.mjs'

/**
 * The child gets a process group of its own, so the terminal's signals reach it only through us, once each.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions & { priority?: number }} options `priority`: as `nice` has it
 * @param {ReturnType<typeof takeOrders>} orders what comes of them is passed on
 * @returns {Promise<{ code: number, signal: NodeJS.Signals | null }>} the code by the convention of the shell
 */
export function endOfChild(file, args, options, orders) {
  const detached = process.platform !== 'win32'
  const { priority, ...spawning } = options
  const child = spawn(file, args, { stdio: 'inherit', detached, ...spawning })
  // Only root may raise a priority.
  if (child.pid !== undefined && priority > getPriority()) setPriority(child.pid, priority)
  const unfollow = orders.follow((signal) => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      resolve({ code: code ?? 128 + constants.signals[signal], signal })
    })
  }).finally(unfollow)
}

/** As above, for a child that is run once. Resolves to its exit code. */
export async function runChild(file, args, options) {
  const orders = takeOrders()
  try {
    return (await endOfChild(file, args, options, orders)).code
  } finally {
    orders.close()
  }
}
