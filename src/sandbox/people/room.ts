/** How much room the network of each user has: people, chats and messages are bounded, or one user fills the database. */
import { failed } from '../../../machines/model/failure.ts'
import type { Operation } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'

export interface RoomLimits {
  readonly people: number
  /** Groups and channels; private chats are bounded by the people. */
  readonly chats: number
  readonly messages: number
}

/** What is given out without another look at the database, as a part of what is left: so many processes may share it. */
const SHARE = 10
/** An album: more messages are never sent at once. */
const MOST_AT_ONCE = 10
const FULL_FOR_MS = 1_000
const MOST_REMEMBERED = 10_000

/** Deleted messages count, since their rows stay; so does whatever else grows with each call. */
const counting = {
  name: 'sandbox_room',
  text: `select (coalesce((select sum(last_message) from sandbox_chat where user_id = $1), 0)
    + coalesce((select sum(stories) from sandbox_person where user_id = $1), 0)
    + (select count(*) from sandbox_invite i join sandbox_chat c on c.id = i.chat_id
        where c.user_id = $1)
    + (select count(*) from sandbox_photo f join sandbox_person p on p.id = f.person_id
        where p.user_id = $1)
    + (select count(*) from sandbox_sticker_set where user_id = $1))::bigint as used`,
}

interface Allowance {
  /** What may be used before the next count. */
  left: number
  /** What the last count has found, less what was used since. */
  inAll: number
  inFlight: number
  /** Until then it is not counted again. */
  fullUntil: number
  counting: Promise<void> | undefined
}

export class Room {
  readonly #db: Queryable
  readonly #limits: RoomLimits
  readonly #now: () => number
  readonly #allowances = new Map<number, Allowance>()

  constructor(db: Queryable, limits: RoomLimits, now: () => number) {
    this.#db = db
    this.#limits = limits
    this.#now = now
  }

  /** The network was emptied: what is left is counted anew. */
  forget(network: number): void {
    const { inFlight = 0, counting } = this.#allowances.get(network) ?? {}
    if (inFlight === 0 && !counting) this.#allowances.delete(network)
  }

  /** Within the transaction that adds them: others who add to this network wait for its end. */
  async assertForPeople(tx: Queryable, network: number, count: number): Promise<void> {
    const found = 'select count(*)::int as count from sandbox_person where user_id = $1'
    await this.#assert(tx, network, found, count, 'people')
  }

  async assertForChat(tx: Queryable, network: number): Promise<void> {
    const found = `select count(*)::int as count from sandbox_chat
      where user_id = $1 and native is not null`
    await this.#assert(tx, network, found, 1, 'chats')
  }

  /** Runs `work`, which adds `count` messages. Without room it rejects and does not run. */
  async holding<Result>(
    network: number,
    count: number,
    work: () => Promise<Result>,
  ): Promise<Result> {
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

  /** What is under way counts as stored, whether the count has seen it or not: rather too little room than too much. */
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
    of: keyof RoomLimits,
  ): Promise<void> {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('sandbox_network', $1))`, [
      network,
    ])
    const [row] = await tx.query<{ count: number }>(found, [network])
    if ((row?.count ?? 0) + count > this.#limits[of]) throw this.#full(of)
  }

  #full(of: keyof RoomLimits) {
    return failed('bad_request', `the sandbox has room for ${this.#limits[of]} ${of} of each user`)
  }
}

const GROWING: ReadonlySet<Operation['kind']> = new Set([
  'send',
  'forward',
  'copy',
  'post_story',
  'create_topic',
  'edit_topic',
  'close_topic',
  'reopen_topic',
  'set_title',
  'set_photo',
  'pin',
  'invite',
  'revoke_invite',
  'set_profile_photo',
])

/** How many rows that stay an operation adds. */
export function growthOf(operation: Operation): number {
  if (operation.kind === 'send_album') return Math.min(operation.contents.length, MOST_AT_ONCE)
  return GROWING.has(operation.kind) ? 1 : 0
}
