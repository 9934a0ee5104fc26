/** This process among the nodes of its database: it joins before it claims accounts, and leaves after they have ended. */
import { Membership, type NodesView } from '../../actors/node/actor.ts'
import type { Clock, Logger } from '../../actors/ports/ports.ts'
import type { Database } from '../database/database.ts'
import type { Metrics } from '../observability/metrics.ts'
import { type EndedRow, endedNodes, type NodeFacts, PostgresNodes } from './table.ts'

/** Time that runs on evenly, whatever the time of day does. */
const steadyClock: Clock = {
  now: () => performance.now(),
  setTimeout: (work, milliseconds) => setTimeout(work, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
}

interface NodesOptions extends NodeFacts {
  readonly db: Database
  readonly url: string
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'beatAge' | 'suspended'>
}

export interface Nodes {
  /** As this node sees them; it knows them also while the database is away. */
  view(): NodesView
  /** Those that ended within a week. */
  ended(): Promise<readonly EndedRow[]>
  drain(): void
  leave(): Promise<void>
}

/** Resolves once this node has joined; rejects where the database does not let it. */
export async function joinNodes(options: NodesOptions): Promise<Nodes> {
  const { db, logger, metrics } = options
  const nodes = new Membership({ table: new PostgresNodes(options), clock: steadyClock, logger })
  await nodes.join()
  metrics.beatAge(() => nodes.view.beatAgeMs / 1000)
  metrics.suspended(() => (nodes.view.state === 'suspended' ? 1 : 0))
  return {
    view: () => nodes.view,
    ended: () => endedNodes(db),
    drain: () => nodes.drain(),
    leave: () => nodes.leave(),
  }
}
