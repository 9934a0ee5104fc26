/** Personal access tokens: made by a signed-in user for scripts, shown once, kept as a hash. */
import { failed, readBack } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import { PersonalToken } from '../database/entities.ts'
import { hashSecret, isToken, newToken } from '../security/secrets.ts'
import { type Clock, Recent, secondsAfter } from './clock.ts'
import { beforeId, holdUser, type PageOf, type PageRequest, toPage } from './users.ts'

const DAY = 86_400
const MAX_PER_USER = 100

interface NewToken {
  readonly name: string
  readonly expiresInDays: number
}

/** SQL, since it counts in the transaction that holds the user. */
const add = `
  insert into personal_token (user_id, name, hash, hint, created_at, expires_at)
  select $1, $2, $3, $4, $5, $6
  where (select count(*) from personal_token where user_id = $1) < ${MAX_PER_USER}
  returning id`
/** One statement finds the token and notes its use, at most once a minute: the time only shows people that it is in use. */
const use = `
  with found as (
    select id, user_id, last_used_at from personal_token where hash = $1 and expires_at > $2
  ), touched as (
    update personal_token as token set last_used_at = $2 from found
    where token.id = found.id
      and (found.last_used_at is null or found.last_used_at < $2 - interval '1 minute')
  )
  select user_id from found`

export class PersonalTokens {
  readonly #db: Database
  readonly #clock: Clock
  readonly #owners: Recent<string, number | undefined>

  constructor(db: Database, clock: Clock, revoked?: () => void) {
    this.#db = db
    this.#clock = clock
    this.#owners = new Recent(clock, revoked)
  }

  /** Some were revoked at another node. */
  revokedElsewhere(): void {
    this.#owners.clear()
  }

  /** The token itself is in this answer and nowhere else. */
  async create(userId: number, { name, expiresInDays }: NewToken) {
    const token = newToken('pat')
    const now = this.#clock()
    const expires = secondsAfter(now, expiresInDays * DAY)
    const values = [userId, name, hashSecret(token), token.slice(-4), now, expires]
    const [added] = await this.#db.transaction(async (tx) => {
      await holdUser(tx, userId)
      return await tx.query<{ id: number }>(add, values)
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
    const deleted = await this.#db.records((em) => em.nativeDelete(PersonalToken, { id, userId }))
    if (deleted === 0) throw failed('not_found')
    this.#owners.forgetAll()
  }

  async deleteAll(userId: number): Promise<void> {
    await this.#db.records((em) => em.nativeDelete(PersonalToken, { userId }))
    this.#owners.forgetAll()
  }

  /** The user of a token. Looked up by its hash, so the time it takes reveals nothing. */
  async ownerOf(token: string): Promise<number> {
    const owner = await this.#find(token)
    if (owner === undefined) throw failed('unauthorized')
    return owner
  }

  /** Whether it was neither revoked nor has expired. */
  async opens(token: string): Promise<boolean> {
    return (await this.#find(token)) !== undefined
  }

  async #find(token: string): Promise<number | undefined> {
    if (!isToken('pat', token)) return undefined
    const hash = hashSecret(token)
    return this.#owners.get(hash.toString('base64'), async () => {
      const [row] = await this.#db.query<{ user_id: number }>(use, [hash, this.#clock()])
      return row?.user_id
    })
  }
}
