/** Runs one child process, passes signals on to it, and reports how it ended. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** One Ctrl-C arrives twice under npm: from the terminal and from npm itself. */
const echoMs = 500

function signalPasser(child) {
  const lastAt = new Map()
  return (signal) => {
    const now = performance.now()
    if (now - (lastAt.get(signal) ?? Number.NEGATIVE_INFINITY) < echoMs) return
    lastAt.set(signal, now)
    child.kill(signal)
  }
}

/** npm's shell does not pass SIGTERM on: it dies of it, and its death is all that we can see. */
function onParentGone(act) {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    act('SIGTERM')
  }, 250)
  return watch
}

/**
 * The child gets a process group of its own, so the terminal's signals reach it only through us,
 * once each. Resolves to the exit code, by the shell's convention for a child killed by a signal.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<number>}
 */
export function runChild(file, args, options) {
  const detached = process.platform !== 'win32'
  const child = spawn(file, args, { stdio: 'inherit', detached, ...options })
  const pass = signalPasser(child)
  for (const signal of passedOn) process.on(signal, pass)
  const watch = onParentGone(pass)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      clearInterval(watch)
      for (const name of passedOn) process.off(name, pass)
      resolve(code ?? 128 + constants.signals[signal])
    })
  })
}
