/** Counts events that sessions report twice or out of order, for the diagnosis. */
import type { Happening } from '../../machines/model/happening.ts'

export interface Irregular {
  readonly repeated: number
  readonly disordered: number
}

interface Tally {
  repeated: number
  disordered: number
  lastAt: number
  lastKey: string
}

/** Counted since this process began. */
export class Irregularities {
  readonly #tallies = new Map<number, Tally>()

  add(credentialId: number, happenings: readonly Happening[]): void {
    let tally = this.#tallies.get(credentialId)
    if (!tally) {
      tally = { repeated: 0, disordered: 0, lastAt: 0, lastKey: '' }
      this.#tallies.set(credentialId, tally)
    }
    for (const { sourceKey, at, recovered } of happenings) {
      if (sourceKey === tally.lastKey) tally.repeated += 1
      // Events that are fetched after a gap are late by nature.
      else if (at < tally.lastAt && !recovered) tally.disordered += 1
      tally.lastKey = sourceKey
      tally.lastAt = at
    }
  }

  of(credentialId: number): Irregular {
    const { repeated = 0, disordered = 0 } = this.#tallies.get(credentialId) ?? {}
    return { repeated, disordered }
  }

  forget(credentialId: number): void {
    this.#tallies.delete(credentialId)
  }
}
