/** The switches behind the scenes: puts faults on a person and takes them off, at once and for good. */
import type { Queryable } from '../../database/database.ts'
import type { LiveSession } from '../../platforms/sandbox/session.ts'
import type { Hub } from '../delivery/hub.ts'
import { endSessions } from './devices.ts'
import { changeFaults, type Faults } from './faults.ts'

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

export interface ControlsOptions {
  readonly db: Queryable
  readonly hub: Hub<LiveSession>
  readonly now: () => number
  /** Rejects for a person of another network. */
  readonly assertIn: (person: number) => Promise<void>
}

export class Controls {
  readonly #db: Queryable
  readonly #hub: Hub<LiveSession>
  readonly #now: () => number
  readonly #assertIn: (person: number) => Promise<void>

  constructor({ db, hub, now, assertIn }: ControlsOptions) {
    this.#db = db
    this.#hub = hub
    this.#now = now
    this.#assertIn = assertIn
  }

  async put(person: number, fault: Fault): Promise<void> {
    await this.#assertIn(person)
    switch (fault.fault) {
      case 'drop':
        await this.#change(person, { downUntil: this.#in(fault.seconds ?? 0) })
        return this.#endLive(person, (session) => session.end((to) => to.lost('network')))
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
        await endSessions(this.#db, person, 'revoked')
        return this.#endLive(person, (session) => {
          session.end((to) => to.revoked('session_revoked'))
        })
      case 'replace':
        await endSessions(this.#db, person, 'replaced')
        return this.#endLive(person, (session) => session.end((to) => to.replaced()))
      case 'ban':
        await this.#ban(person, true)
        return this.#endLive(person, (session) => {
          session.end((to) => to.invalid('account_banned'))
        })
    }
  }

  /** Ended sessions stay ended; only a new link brings the person back. */
  async clear(person: number, fault: FaultName): Promise<void> {
    await this.#assertIn(person)
    if (fault === 'ban') return this.#ban(person, false)
    const cleared = clearing[fault]
    if (cleared) await this.#change(person, cleared)
  }

  async clearAll(person: number): Promise<void> {
    await this.#assertIn(person)
    await this.#ban(person, false)
    await this.#change(person, Object.assign({}, ...Object.values(clearing)))
  }

  async #change(person: number, change: Parameters<typeof changeFaults>[2]) {
    const faults: Faults = await changeFaults(this.#db, person, change)
    for (const session of this.#hub.of(person)) session.faultsChanged(faults)
  }

  #endLive(person: number, end: (session: LiveSession) => void) {
    for (const session of this.#hub.of(person)) end(session)
  }

  async #ban(person: number, banned: boolean) {
    await this.#db.query('update sandbox_person set banned = $2 where id = $1', [person, banned])
  }

  #in(seconds: number) {
    return this.#now() + seconds * 1000
  }
}

const clearing: Partial<Record<FaultName, Parameters<typeof changeFaults>[2]>> = {
  drop: { downUntil: null },
  silence: { isSilent: null },
  flood_wait: { floodUntil: null },
  delay: { delayMilliseconds: null },
  duplicate: { isDuplicating: null },
  reorder: { isReordering: null },
  lose_answers: { lostAnswers: null },
}
