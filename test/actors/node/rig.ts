/** Nodes on one table in memory and one simulated clock. */
import { type Joined, Membership, type NodeTable } from '../../../actors/node/actor.ts'
import type { NodeRow, Verdict } from '../../../actors/node/observer.ts'
import { TestClock } from '../../support/clock.ts'
import { quietLogger } from '../../support/logger.ts'

interface Kept extends Omit<NodeRow, 'state'> {
  beats: number
  isLocked: boolean
  state: NodeRow['state'] | 'left' | 'gone'
}

export const nodeRow = <State extends NodeRow['state']>(
  incarnation: number,
  seen: Pick<NodeRow, 'beats' | 'isLocked'> & { readonly state: State },
) => ({
  incarnation,
  name: `node-${incarnation}`,
  address: null,
  version: '1',
  schema: '0083-nodes',
  protocol: 1,
  weight: 1,
  isToDrain: false,
  startedAt: new Date(0),
  ...seen,
})

const hasEnded = ({ state }: Kept) => state === 'left' || state === 'gone'

/** What PostgreSQL keeps for all nodes. */
export class Rows {
  readonly all: Kept[] = []
  readonly clock = new TestClock()

  of(membership: Membership): Kept | undefined {
    return this.all.find(({ incarnation }) => incarnation === membership.view.incarnation)
  }

  states(): string[] {
    return this.all.map(({ state }) => state)
  }
}

/** One node's way to the rows: it can be cut. */
export class Way implements NodeTable {
  readonly #rows: Rows
  isCut = false

  constructor(rows: Rows) {
    this.#rows = rows
  }

  async join(): Promise<Joined> {
    this.#assertOpen()
    const incarnation = this.#rows.all.length + 1
    this.#rows.all.push(nodeRow(incarnation, { state: 'joining', beats: 0, isLocked: true }))
    return { incarnation, areLocksNew: true }
  }

  async beat(incarnation: number, state: 'up' | 'draining') {
    this.#assertOpen()
    const own = this.#rows.all[incarnation - 1]
    if (!own || hasEnded(own)) return undefined
    Object.assign(own, { state, beats: own.beats + 1, isLocked: true })
    return this.#rows.all.filter((row) => !hasEnded(row)).map((row) => ({ ...row }) as NodeRow)
  }

  async declareGone({ row: { incarnation, beats } }: Verdict): Promise<boolean> {
    const row = this.#rows.all[incarnation - 1]
    if (!row || row.beats !== beats || hasEnded(row)) return false
    Object.assign(row, { state: 'gone', isLocked: false })
    return true
  }

  async leave(incarnation: number): Promise<void> {
    this.#assertOpen()
    Object.assign(this.#rows.all[incarnation - 1] ?? {}, { state: 'left', isLocked: false })
  }

  #assertOpen(): void {
    if (this.isCut) throw new Error('the database does not answer')
  }
}

/** So many nodes that have joined and seen each other. */
export async function nodes(count: number) {
  const rows = new Rows()
  const all = Array.from({ length: count }, () => {
    const way = new Way(rows)
    return { way, node: new Membership({ table: way, clock: rows.clock, logger: quietLogger }) }
  })
  for (const { node } of all) await node.join()
  await rows.clock.advance(1_000)
  return { rows, clock: rows.clock, all: all as [(typeof all)[0], ...typeof all] }
}
