/** Bounds the people, chats and messages of each network: without a bound one user could fill the database. */
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'

export interface CapacityLimits {
  readonly people: number
  /** Groups and channels. The number of people bounds that of private chats. */
  readonly chats: number
  readonly messages: number
}

/** A count of the database hands out a tenth of the free rows, so that several processes can share a network. */
const SHARE = 10
/** The most rows that one operation adds: an album of ten. */
const MOST_AT_ONCE = 10
const FULL_FOR_MS = 1_000
const MOST_REMEMBERED = 10_000

/** Rows that stay, some for a year: messages, also deleted ones, stories, links, photos, sticker sets, gifts and moved Stars. */
const counting = {
  name: 'sandbox_room',
  text: `select (coalesce((select sum(last_message) from sandbox_chat where user_id = $1), 0)
    + coalesce((select sum(stories) from sandbox_person where user_id = $1), 0)
    + (select count(*) from sandbox_invite i join sandbox_chat c on c.id = i.chat_id
        where c.user_id = $1)
    + (select count(*) from sandbox_photo f join sandbox_person p on p.id = f.person_id
        where p.user_id = $1)
    + (select count(*) from sandbox_ephemeral e join sandbox_chat c on c.id = e.chat_id
        where c.user_id = $1)
    + (select count(*) from sandbox_sticker_set where user_id = $1)
    + (select count(*) from sandbox_gift where user_id = $1)
    + (select count(*) from sandbox_invoice i join sandbox_person p on p.id = i.bot_id
        where p.user_id = $1)
    + (select count(*) from sandbox_star_entry e join sandbox_person p on p.id = e.person_id
        where p.user_id = $1))::bigint as used`,
}

interface Allowance {
  /** Rows that may be added before the next count. */
  left: number
  /** Free rows at the last count, less those added since. */
  inAll: number
  inFlight: number
  /** Unix milliseconds. The network was full: it is not counted again before. */
  fullUntil: number
  counting: Promise<void> | undefined
}

export class Capacity {
  readonly #db: Queryable
  readonly #limits: CapacityLimits
  readonly #now: () => number
  readonly #allowances = new Map<number, Allowance>()

  constructor(db: Queryable, limits: CapacityLimits, now: () => number) {
    this.#db = db
    this.#limits = limits
    this.#now = now
  }

  /** Call it after the network was emptied: the next operation counts its rows anew. */
  forget(network: number): void {
    const { inFlight = 0, counting } = this.#allowances.get(network) ?? {}
    if (inFlight === 0 && !counting) this.#allowances.delete(network)
  }

  /** Call it within the transaction that adds the rows: others that add to this network wait for its end. */
  async assertForPeople(tx: Queryable, network: number, count: number): Promise<void> {
    const found = 'select count(*)::int as count from sandbox_person where user_id = $1'
    await this.#assert(tx, network, found, count, 'people')
  }

  async assertForChat(tx: Queryable, network: number): Promise<void> {
    const found = `select count(*)::int as count from sandbox_chat
      where user_id = $1 and native is not null`
    await this.#assert(tx, network, found, 1, 'chats')
  }

  /** Runs `work`, which adds `count` rows. Rejects without running it if the network is full. */
  async reserve<Result>(
    network: number,
    rows: number,
    work: () => Promise<Result>,
  ): Promise<Result> {
    // More are never added: such an album is refused.
    const count = Math.min(rows, MOST_AT_ONCE)
    const allowance = this.#allowanceOf(network)
    while (allowance.left < count) await this.#recount(network, allowance, count)
    allowance.left -= count
    allowance.inAll -= count
    allowance.inFlight += count
    try {
      return await work()
    } finally {
      allowance.inFlight -= count
    }
  }

  async #recount(network: number, allowance: Allowance, count: number): Promise<void> {
    if (allowance.fullUntil > this.#now()) throw this.#full('messages')
    allowance.counting ??= this.#count(network, allowance).finally(() => {
      allowance.counting = undefined
    })
    await allowance.counting
    if (allowance.inAll < count) throw this.#full('messages')
  }

  /**
   * Rows being added count as stored even if the count includes them already: the sum may be too high, never too low.
   */
  async #count(network: number, allowance: Allowance): Promise<void> {
    allowance.left = 0
    const { inFlight } = allowance
    const [row] = await this.#db.query<{ used: number }>(counting, [network])
    const left = Math.max(0, this.#limits.messages - (row?.used ?? 0) - inFlight)
    allowance.inAll = left
    if (left === 0) allowance.fullUntil = this.#now() + FULL_FOR_MS
    allowance.left = Math.min(left, Math.max(Math.ceil(left / SHARE), MOST_AT_ONCE))
  }

  #allowanceOf(network: number): Allowance {
    const known = this.#allowances.get(network)
    if (known) return known
    if (this.#allowances.size >= MOST_REMEMBERED) this.#forgetIdle()
    const fresh = { left: 0, inAll: 0, inFlight: 0, fullUntil: 0, counting: undefined }
    this.#allowances.set(network, fresh)
    return fresh
  }

  #forgetIdle() {
    for (const [network, { inFlight, counting }] of this.#allowances) {
      if (inFlight === 0 && !counting) this.#allowances.delete(network)
    }
  }

  async #assert(
    tx: Queryable,
    network: number,
    found: string,
    count: number,
    of: keyof CapacityLimits,
  ): Promise<void> {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('sandbox_network', $1))`, [
      network,
    ])
    const [row] = await tx.query<{ count: number }>(found, [network])
    if ((row?.count ?? 0) + count > this.#limits[of]) throw this.#full(of)
  }

  #full(of: keyof CapacityLimits) {
    const count = this.#limits[of]
    return failed('bad_request', `the sandbox has room for ${count} ${of} of each user`, {
      reason: `${of}_full`,
      params: { count },
    })
  }
}
