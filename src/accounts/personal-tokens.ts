/** Personal access tokens: made by a signed-in user for scripts, shown once, kept as a hash. */
import { failed, readBack } from '../../machines/model/failure.ts'
import { noteChange, noteIn } from '../audit/log.ts'
import type { Database } from '../database/database.ts'
import { PersonalToken } from '../database/entities.ts'
import { type AddressCheck, restrictionOf } from '../security/addresses.ts'
import { hashSecret, isToken, newToken } from '../security/secrets.ts'
import { type Clock, Recent, secondsAfter } from './clock.ts'
import { beforeId, holdUser, type PageOf, type PageRequest, toPage } from './users.ts'

/** What a token may be allowed to do with the management API; `docs/access.md` tells what each is good for. */
export const TOKEN_SCOPES = ['read', 'link', 'keys', 'send', 'operate'] as const
export type TokenScope = (typeof TOKEN_SCOPES)[number]

const DAY = 86_400
const MAX_PER_USER = 100

interface NewToken {
  readonly name: string
  readonly expiresInDays: number
  readonly scopes: readonly TokenScope[]
  /** Addresses and networks; empty: it may be used from anywhere. */
  readonly allowedIps: readonly string[]
}

/** What a valid token stands for. */
interface TokenHolder {
  readonly userId: number
  readonly tokenId: number
  readonly scopes: readonly TokenScope[]
  /** Absent: it may be used from anywhere. */
  readonly opensFrom: AddressCheck | undefined
}

interface HolderRow {
  readonly id: number
  readonly user_id: number
  readonly scopes: TokenScope[]
  readonly allowed_ips: string[]
}

/** SQL, since it counts in the transaction that holds the user. */
const add = `
  insert into personal_token (user_id, name, hash, hint, created_at, expires_at, scopes, allowed_ips)
  select $1, $2, $3, $4, $5, $6, $7, $8
  where (select count(*) from personal_token where user_id = $1) < ${MAX_PER_USER}
  returning id`
/** One statement finds the token and notes its use, at most once a minute: the time only shows people that it is in use. */
const use = `
  with found as (
    select id, user_id, scopes, allowed_ips, last_used_at from personal_token where hash = $1 and expires_at > $2
  ), touched as (
    update personal_token as token set last_used_at = $2 from found
    where token.id = found.id
      and (found.last_used_at is null or found.last_used_at < $2 - interval '1 minute')
  )
  select id, user_id, scopes, allowed_ips from found`

export class PersonalTokens {
  readonly #db: Database
  readonly #clock: Clock
  readonly #holders: Recent<string, TokenHolder | undefined>

  constructor(db: Database, clock: Clock, revoked?: () => void) {
    this.#db = db
    this.#clock = clock
    this.#holders = new Recent(clock, revoked)
  }

  /** Some were revoked at another node. */
  revokedElsewhere(): void {
    this.#holders.clear()
  }

  /** The token itself is in this answer and nowhere else. */
  async create(userId: number, { name, expiresInDays, scopes, allowedIps }: NewToken) {
    const token = newToken('pat')
    const now = this.#clock()
    const expires = secondsAfter(now, expiresInDays * DAY)
    const values = [
      ...[userId, name, hashSecret(token), token.slice(-4), now, expires],
      ...[scopes, allowedIps],
    ]
    const [added] = await this.#db.transaction(async (tx) => {
      await holdUser(tx, userId)
      const rows = await tx.query<{ id: number }>(add, values)
      const after = { name, scopes, allowed_ips: allowedIps, expires_at: expires }
      if (rows[0]) await noteChange(tx, { target: ['token', rows[0].id], after })
      return rows
    })
    if (!added) {
      throw failed('conflict', `there are ${MAX_PER_USER} tokens already`, {
        reason: 'tokens_full',
        params: { count: MAX_PER_USER },
      })
    }
    const { id } = added
    const record = await readBack(this.#db.records((em) => em.findOneOrFail(PersonalToken, { id })))
    return { token, record }
  }

  async list(userId: number, page: PageRequest): Promise<PageOf<PersonalToken>> {
    const newest = { orderBy: { id: 'desc' }, limit: page.limit + 1 } as const
    const found = await this.#db.records((em) =>
      em.find(PersonalToken, { userId, ...beforeId(page) }, newest),
    )
    return toPage(found, page.limit)
  }

  async delete(id: number, userId: number): Promise<void> {
    await this.#db.records((em) =>
      em.transactional(async (tx) => {
        const found = await tx.findOne(PersonalToken, { id, userId })
        if (!found || (await tx.nativeDelete(PersonalToken, { id, userId })) === 0) {
          throw failed('not_found')
        }
        const { name, scopes, allowedIps } = found
        await noteIn(tx, { before: { name, scopes, allowed_ips: allowedIps } })
      }),
    )
    this.#holders.forgetAll()
  }

  async deleteAll(userId: number): Promise<void> {
    await this.#db.records((em) => em.nativeDelete(PersonalToken, { userId }))
    this.#holders.forgetAll()
  }

  /** Whose a token is, and what it may do. Looked up by its hash, so the time it takes reveals nothing. */
  async holderOf(token: string): Promise<TokenHolder> {
    const holder = await this.#find(token)
    if (holder === undefined) throw failed('unauthorized')
    return holder
  }

  /** Whether it was neither revoked nor has expired. */
  async opens(token: string): Promise<boolean> {
    return (await this.#find(token)) !== undefined
  }

  async #find(token: string): Promise<TokenHolder | undefined> {
    if (!isToken('pat', token)) return undefined
    const hash = hashSecret(token)
    return this.#holders.get(hash.toString('base64'), async () => {
      const [row] = await this.#db.query<HolderRow>(use, [hash, this.#clock()])
      if (!row) return undefined
      const { id: tokenId, user_id: userId, scopes, allowed_ips } = row
      return { tokenId, userId, scopes, opensFrom: restrictionOf(allowed_ips) }
    })
  }
}
