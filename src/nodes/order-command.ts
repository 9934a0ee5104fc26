/** Commands for the operator: drain, undrain, and move, which work on the database and need no node to answer. */
import { setTimeout as pause } from 'node:timers/promises'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import { byOperator, operate } from '../operator/command.ts'
import { holdingsByNode, type NodeRef, orderDrain, pinAccount } from './orders.ts'
import { livingNodes } from './table.ts'

const USAGE = `usage: node bin/chapar.mjs drain NODE [--wait [SECONDS]]
       node bin/chapar.mjs undrain NODE
       node bin/chapar.mjs move ACCOUNT NODE
       node bin/chapar.mjs move ACCOUNT --anywhere
NODE is a name, or the number of a start of it.
`
const WAIT_SECONDS = 60
const LOOK_MS = 250

const say = (line: string) => process.stdout.write(`${line}\n`)

const refOf = (text: string): NodeRef =>
  /^\d{1,9}$/.test(text) ? { incarnation: Number(text) } : { name: text }

/** Whether the node has nothing left within so many seconds. One that has ended has nothing. */
async function isEmptied(db: Database, incarnation: number, seconds: number): Promise<boolean> {
  const until = performance.now() + 1000 * seconds
  for (;;) {
    const left = (await holdingsByNode(db)).get(incarnation)?.accounts ?? 0
    const isLiving = (await livingNodes(db)).some((row) => row.incarnation === incarnation)
    if (left === 0 || !isLiving) return true
    if (performance.now() > until) {
      process.stderr.write(`chapar: ${left} accounts are still there\n`)
      return false
    }
    await pause(LOOK_MS)
  }
}

/** Whether it was understood. */
async function order(db: Database, [verb, subject = '', ...more]: string[]): Promise<boolean> {
  const [option, value] = more
  if (subject === '' || subject.startsWith('-')) return false
  if (verb === 'move' && /^\d{1,15}$/.test(subject) && option && more.length === 1) {
    const node = option === '--anywhere' ? null : option
    await byOperator('node.account_moved', () => pinAccount(db, Number(subject), node))
    say(node === null ? 'The account goes where it is placed.' : `The account goes to ${node}.`)
    return true
  }
  if (verb === 'undrain' && more.length === 0) {
    const incarnation = await byOperator('node.undrained', () =>
      orderDrain(db, refOf(subject), false),
    )
    say(`Node ${incarnation} takes accounts.`)
    return true
  }
  const seconds = Number(value ?? WAIT_SECONDS)
  const mayWait = option === undefined || (option === '--wait' && seconds >= 0)
  if (verb !== 'drain' || !mayWait || more.length > 2) return false
  const incarnation = await byOperator('node.drained', () => orderDrain(db, refOf(subject), true))
  say(`Node ${incarnation} gives its accounts away.`)
  if (option === undefined) return true
  if (await isEmptied(db, incarnation, seconds)) say('It has none left.')
  else process.exitCode = 1
  return true
}

await operate(async ({ db }) => {
  try {
    if (await order(db, process.argv.slice(2))) return
    process.stderr.write(USAGE)
    process.exitCode = 2
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error
    process.stderr.write(`chapar: ${error.message}\n`)
    process.exitCode = 1
  }
})
