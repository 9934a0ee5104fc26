/** This process among the nodes of its database: it joins before it claims accounts, and leaves after they have ended. */
import { EventEmitter } from 'node:events'
import { Membership, type NodesView } from '../../actors/node/actor.ts'
import { SteadyTime } from '../../actors/node/lease.ts'
import type { NodeRow } from '../../actors/node/observer.ts'
import { placeOf } from '../../actors/node/placement.ts'
import type { Clock, Logger } from '../../actors/ports/ports.ts'
import type { Database } from '../database/database.ts'
import type { Metrics } from '../observability/metrics.ts'
import { Endings } from './endings.ts'
import { pinnedAccounts } from './orders.ts'
import {
  type EndedRow,
  endedNodes,
  type NodeFacts,
  type NodeFigures,
  PostgresNodes,
} from './table.ts'

const time = new SteadyTime()

/** Time that runs on evenly, and on through a pause of the whole machine. */
export const steadyClock: Clock = {
  now: () => time.now(),
  steadyNow: () => performance.now(),
  setTimeout: (work, milliseconds) => setTimeout(work, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
}

interface NodesOptions extends NodeFacts {
  readonly db: Database
  readonly url: string
  /** No other process reaches the database. */
  readonly isSole?: boolean
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'beatAge' | 'suspended'>
}

export interface Nodes {
  /** As this node sees them; it knows them also while the database is away. */
  view(): NodesView
  /** Since a node of that name was seen to beat, also if it has ended; undefined for one that this node has not seen lately. */
  silentMs(name: string): number | undefined
  /** How many can be seen, this one included. */
  count(): number
  /** Whether no other node can be seen. */
  isAlone(): boolean
  /** Whether another node takes accounts. */
  hasSuccessors(): boolean
  /** Resolves once no node that was declared gone can have a session of an account. */
  endedForCertain(): Promise<void>
  /** The nodes that ended within a week. */
  ended(): Promise<readonly EndedRow[]>
  /** Whether a credential that belongs to no node should be claimed by this one. */
  isPlacedHere(credentialId: number): boolean
  /** Whether an operator has chosen a node for it. */
  isPinned(credentialId: number): boolean
  hasPins(): boolean
  /** Reads what operators have chosen. */
  refreshPins(): Promise<void>
  /** Calls back with the time at which a beat was sent that was counted. */
  onHeard(listener: (sentAt: number) => void): void
  /** Calls back when the set of nodes or a state has changed. */
  onMembersChanged(listener: () => void): void
  /** Calls back when the others have declared this node gone: it owns nothing any more. */
  onDeclaredGone(listener: () => void): void
  /** From now on the others read there what this node says of itself. */
  tellFigures(read: () => NodeFigures): void
  drain(): void
  leave(): Promise<void>
}

/** The nodes that take credentials, by name: of two with one name either may. */
function placesIn({ rows, incarnation, state }: NodesView) {
  const isOpen = (row: NodeRow) =>
    row.incarnation === incarnation ? state !== 'draining' && state !== 'gone' : row.state === 'up'
  const open = rows.filter(isOpen)
  // If all nodes drain, they take accounts again.
  const places = open.length > 0 ? open : rows.filter((row) => row.isToDrain)
  return [...new Map(places.map((row) => [row.name, row])).values()]
}

/** Whether a node with this view may bring no account to itself. */
export function claimsNothing(
  { state, rows }: NodesView,
  hasSuccessors = rows.length > 1,
): boolean {
  // The number that it has is the one before, whose row may not have ended yet.
  if (state === 'gone' || state === 'joining') return true
  return state === 'draining' && hasSuccessors
}

/** Resolves once this node has joined; rejects where the database does not let it. */
export async function joinNodes(options: NodesOptions): Promise<Nodes> {
  const { db, logger, metrics } = options
  const events = new EventEmitter<{ heard: [sentAt: number]; changed: []; gone: [] }>()
  let isAlone = true
  let pins = await pinnedAccounts(db)
  const table = new PostgresNodes(options)
  const endings = new Endings(db, options.isSole)
  const nodes = new Membership({
    table,
    clock: steadyClock,
    logger,
    heard: (sentAt) => void events.emit('heard', sentAt),
    membersChanged() {
      isAlone = nodes.view.rows.length <= 1
      events.emit('changed')
    },
    declaredGone: () => void events.emit('gone'),
  })
  await nodes.join()
  metrics.beatAge(() => nodes.view.beatAgeMs / 1000)
  metrics.suspended(() => (nodes.view.state === 'suspended' ? 1 : 0))
  return {
    view: () => nodes.view,
    silentMs: (name) => nodes.silentMs(name),
    count: () => nodes.view.rows.length,
    isAlone: () => isAlone,
    hasSuccessors: () =>
      nodes.view.rows.some(
        ({ incarnation, state }) => incarnation !== nodes.view.incarnation && state === 'up',
      ),
    endedForCertain: () => endings.forCertain(),
    ended: () => endedNodes(db),
    isPlacedHere(credentialId) {
      const places = placesIn(nodes.view)
      const pinned = pins.get(credentialId)
      const isOpen = pinned !== undefined && places.some(({ name }) => name === pinned)
      return (isOpen ? pinned : placeOf(credentialId, places)) === options.name
    },
    isPinned: (credentialId) => pins.has(credentialId),
    hasPins: () => pins.size > 0,
    async refreshPins() {
      pins = await pinnedAccounts(db)
    },
    onHeard: (listener) => void events.on('heard', listener),
    onMembersChanged: (listener) => void events.on('changed', listener),
    onDeclaredGone: (listener) => void events.on('gone', listener),
    tellFigures(read) {
      table.figures = read
    },
    drain: () => nodes.drain(),
    leave: () => nodes.leave(),
  }
}
