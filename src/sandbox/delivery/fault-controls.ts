/** Puts faults on a person and takes them off, with effect on live sessions. */
import type { Queryable } from '../../database/database.ts'
import { changeFaults, type FaultChange } from './faults.ts'
import type { Hub, SessionEnd } from './hub.ts'
import { endSessions } from './sessions.ts'

export type Fault =
  | { readonly fault: 'drop'; readonly seconds?: number }
  | { readonly fault: 'silence' }
  | { readonly fault: 'flood_wait'; readonly seconds: number }
  | { readonly fault: 'delay'; readonly milliseconds: number }
  | { readonly fault: 'duplicate' }
  | { readonly fault: 'reorder' }
  | { readonly fault: 'lose_answers'; readonly times?: number }
  | { readonly fault: 'revoke' }
  | { readonly fault: 'replace' }
  | { readonly fault: 'ban' }

export type FaultName = Fault['fault']

interface FaultControlsOptions {
  readonly db: Queryable
  readonly hub: Hub
  /** Unix milliseconds. */
  readonly now: () => number
  /** Rejects for a person of another network. */
  readonly assertIn: (person: number) => Promise<void>
}

export class FaultControls {
  readonly #options: FaultControlsOptions

  constructor(options: FaultControlsOptions) {
    this.#options = options
  }

  async put(person: number, fault: Fault): Promise<void> {
    const { db, assertIn } = this.#options
    await assertIn(person)
    switch (fault.fault) {
      case 'drop':
        await this.#change(person, { downUntil: this.#in(fault.seconds ?? 0) })
        return this.#endLive(person, 'connection_lost')
      case 'silence':
        return this.#change(person, { isSilent: true })
      case 'flood_wait':
        return this.#change(person, { floodUntil: this.#in(fault.seconds) })
      case 'delay':
        return this.#change(person, { delayMilliseconds: fault.milliseconds })
      case 'duplicate':
        return this.#change(person, { isDuplicating: true })
      case 'reorder':
        return this.#change(person, { isReordering: true })
      case 'lose_answers':
        return this.#change(person, { lostAnswers: fault.times ?? 1 })
      case 'revoke':
        await endSessions(db, person, 'revoked')
        return this.#endLive(person, 'revoked')
      case 'replace':
        await endSessions(db, person, 'replaced')
        return this.#endLive(person, 'replaced')
      case 'ban':
        await this.#ban(person, true)
        return this.#endLive(person, 'banned')
    }
  }

  /** An ended session stays ended: only a new link brings the person back. */
  async clear(person: number, fault: FaultName): Promise<void> {
    await this.#options.assertIn(person)
    if (fault === 'ban') return this.#ban(person, false)
    const cleared = clearing[fault]
    if (cleared) await this.#change(person, cleared)
  }

  async clearAll(person: number): Promise<void> {
    await this.#options.assertIn(person)
    await this.#ban(person, false)
    await this.#change(person, Object.assign({}, ...Object.values(clearing)))
  }

  async #change(person: number, change: FaultChange) {
    const { db, hub } = this.#options
    const faults = await changeFaults(db, person, change)
    hub.faultsChanged(person, faults)
  }

  #endLive(person: number, why: SessionEnd) {
    this.#options.hub.endSessions(person, why)
  }

  async #ban(person: number, banned: boolean) {
    const statement = 'update sandbox_person set banned = $2 where id = $1'
    await this.#options.db.query(statement, [person, banned])
  }

  #in(seconds: number) {
    return this.#options.now() + seconds * 1000
  }
}

const clearing: Partial<Record<FaultName, FaultChange>> = {
  drop: { downUntil: null },
  silence: { isSilent: null },
  flood_wait: { floodUntil: null },
  delay: { delayMilliseconds: null },
  duplicate: { isDuplicating: null },
  reorder: { isReordering: null },
  lose_answers: { lostAnswers: null },
}
