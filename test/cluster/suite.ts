/** A suite of faults, what its rounds show, and the owners of all accounts once they are where they are placed. */
import { setTimeout as pause } from 'node:timers/promises'
import { placeOf } from '../../actors/node/placement.ts'
import type { Stage, StageNeeds } from './stage.ts'

/** How long one account was away. */
export interface Recovery {
  readonly account: number
  /** Milliseconds from the fault on. */
  readonly ms: number
}

/** What one round has shown. */
export interface Round {
  /** From the fault to the first stored update of each account that it concerned. */
  readonly recoveries: readonly Recovery[]
  /** Accounts that changed their owner though nothing made it necessary. */
  readonly needless: number
}

export interface Suite {
  readonly name: string
  readonly needs?: StageNeeds
  /** Why it cannot be run here. */
  missing?(): Promise<string | undefined>
  /** Whether callers are promised that nothing fails. */
  readonly promisesCalls: boolean
  /** Whether connections to a process that ends may be lost under a call. */
  readonly cuts: boolean
  /** Within which this share of the accounts is to be back, on a machine that does nothing else. */
  readonly goal?: { readonly share: number; readonly ms: number }
  round(stage: Stage, random: () => number): Promise<Round>
}

export const LOOK_MS = 25
export const RECOVERED_WITHIN_MS = 60_000

export type Owners = ReadonlyMap<number, string>

/** Twenty a second move. */
const placedWithinMs = (accounts: number) => 30_000 + 100 * accounts

/** The owners once every account is where it is placed: whatever still goes there would look like a takeover. */
export async function placedOwners(stage: Stage): Promise<Owners> {
  const places = stage.nodes.map(({ name }) => ({ name, weight: 1 }))
  const isPlaced = ([id, owner]: [number, string]) => placeOf(id, places) === owner
  const [accounts] = await stage.database.query<{ count: number }>(
    'select count(*)::int as count from credential_log',
  )
  const count = accounts?.count ?? 0
  const end = performance.now() + placedWithinMs(count)
  for (;;) {
    const owners = await stage.owners()
    const away = [...owners].filter((entry) => !isPlaced(entry))
    if (away.length === 0 && owners.size === count) return owners
    if (performance.now() > end) {
      const told = away.map(([id, owner]) => `${id} at ${owner} instead of ${placeOf(id, places)}`)
      throw new Error(
        `${count - owners.size} accounts are nowhere, others elsewhere: ${told.join()}`,
      )
    }
    await pause(LOOK_MS)
  }
}
