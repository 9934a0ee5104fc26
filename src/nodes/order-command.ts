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

type Order =
  | { readonly verb: 'drain'; readonly node: NodeRef; readonly waitSeconds: number | undefined }
  | { readonly verb: 'undrain'; readonly node: NodeRef }
  /** Without a node it goes where it is placed. */
  | { readonly verb: 'move'; readonly account: number; readonly node: string | null }

/** Undefined if it was not understood. */
function orderIn([verb, subject = '', ...more]: readonly string[]): Order | undefined {
  const [option, value] = more
  if (subject === '' || subject.startsWith('-')) return undefined
  if (verb === 'move' && /^\d{1,15}$/.test(subject) && option && more.length === 1) {
    return { verb, account: Number(subject), node: option === '--anywhere' ? null : option }
  }
  const node = refOf(subject)
  if (verb === 'undrain' && more.length === 0) return { verb, node }
  if (verb !== 'drain' || more.length > 2) return undefined
  if (option === undefined) return { verb, node, waitSeconds: undefined }
  const waitSeconds = Number(value ?? WAIT_SECONDS)
  return option === '--wait' && waitSeconds >= 0 ? { verb, node, waitSeconds } : undefined
}

async function carryOut(db: Database, order: Order): Promise<void> {
  if (order.verb === 'move') {
    const { account, node } = order
    await byOperator('node.account_moved', () => pinAccount(db, account, node))
    say(node === null ? 'The account goes where it is placed.' : `The account goes to ${node}.`)
    return
  }
  if (order.verb === 'undrain') {
    const incarnation = await byOperator('node.undrained', () => orderDrain(db, order.node, false))
    say(`Node ${incarnation} takes accounts.`)
    return
  }
  const incarnation = await byOperator('node.drained', () => orderDrain(db, order.node, true))
  say(`Node ${incarnation} gives its accounts away.`)
  if (order.waitSeconds === undefined) return
  if (await isEmptied(db, incarnation, order.waitSeconds)) say('It has none left.')
  else process.exitCode = 1
}

await operate({
  usage: USAGE,
  read: orderIn,
  async run({ db }, order) {
    try {
      await carryOut(db, order)
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error
      process.stderr.write(`chapar: ${error.message}\n`)
      process.exitCode = 1
    }
  },
})
