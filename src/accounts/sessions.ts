/** Sessions of users, and their refresh tokens: each is valid for one use, and a second use ends the session. */

import type { Logger } from '../../actors/ports/ports.ts'
import { failed } from '../../machines/model/failure.ts'
import { changedBy, noteIn } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'
import { RefreshToken, UserSession } from '../database/entities.ts'
import { withoutControl } from '../security/redact.ts'
import { hashSecret, isToken, newToken } from '../security/secrets.ts'
import type { RequestClient } from './client.ts'
import { type Clock, Recent, secondsAfter } from './clock.ts'
import { beforeId, holdUser, type PageOf, type PageRequest, toPage } from './users.ts'

const DAY = 86_400
export const IDLE_SECONDS = 7 * DAY
const ABSOLUTE_SECONDS = 30 * DAY
const MAX_PER_USER = 20
const LONGEST_USER_AGENT = 256

/** SQL, since opening and refreshing lock rows in one transaction with the token. */
const open = `
  insert into user_session (user_id, ip, user_agent, created_at, last_used_at, expires_at)
  values ($1, $2, $3, $4, $4, $5) returning id`
const endOldest = `
  update user_session set ended_at = $2
  where user_id = $1 and ended_at is null and id not in (
    select id from user_session where user_id = $1 and ended_at is null
    order by last_used_at desc, id desc limit ${MAX_PER_USER}
  ) returning id`
const touch = `
  update user_session set last_used_at = $2, ip = $4, user_agent = $5
  where id = $1 and ended_at is null and expires_at > $2 and last_used_at > $3 returning user_id`

interface Owner {
  readonly user_id: number
}

/** Sessions that are neither ended nor expired. */
const liveAt = (now: Date) => ({
  endedAt: null,
  expiresAt: { $gt: now },
  lastUsedAt: { $gt: secondsAfter(now, -IDLE_SECONDS) },
})

const agentOf = ({ userAgent = '' }: RequestClient) =>
  withoutControl(userAgent.slice(0, LONGEST_USER_AGENT)) || null

interface OpenedSession {
  readonly sessionId: number
  readonly ended: readonly number[]
}

export class Sessions {
  readonly #db: Database
  readonly #clock: Clock
  readonly #owners: Recent<number, number | undefined>

  constructor(db: Database, clock: Clock, revoked?: () => void) {
    this.#db = db
    this.#clock = clock
    this.#owners = new Recent(clock, revoked)
  }

  /** Some were ended at another node. */
  endedElsewhere(): void {
    this.#owners.clear()
  }

  /** The oldest sign-in ends when there are too many: `forget` those once the transaction is committed. */
  async open(tx: Queryable, userId: number, client: RequestClient): Promise<OpenedSession> {
    await holdUser(tx, userId)
    const now = this.#clock()
    const expires = secondsAfter(now, ABSOLUTE_SECONDS)
    const values = [userId, client.ip, agentOf(client), now, expires]
    const [opened] = await tx.query<{ id: number }>(open, values)
    const ended = await tx.query<{ id: number }>(endOldest, [userId, now])
    return { sessionId: opened!.id, ended: ended.map(({ id }) => id) }
  }

  /** They have ended. */
  forget(ids: readonly number[]): void {
    for (const id of ids) this.#owners.forget(id)
  }

  /** Notes a use. Resolves with the user, or undefined if the session has ended. */
  async touch(tx: Queryable, id: number, client: RequestClient): Promise<number | undefined> {
    const now = this.#clock()
    const idleSince = secondsAfter(now, -IDLE_SECONDS)
    const values = [id, now, idleSince, client.ip, agentOf(client)]
    const [row] = await tx.query<Owner>(touch, values)
    return row?.user_id
  }

  async end(id: number): Promise<void> {
    const ended = { endedAt: this.#clock() }
    await this.#db.records((em) =>
      em.transactional(async (tx) => {
        const found = await tx.findOne(UserSession, { id, endedAt: null }, { fields: ['userId'] })
        if (!found || (await tx.nativeUpdate(UserSession, { id, endedAt: null }, ended)) === 0)
          return
        await noteIn(tx, { userId: found.userId, target: ['session', id] })
      }),
    )
    this.#owners.forget(id)
  }

  /** Every session of this user. */
  async endAll(userId: number): Promise<void> {
    const ended = { endedAt: this.#clock() }
    await this.#db.records((em) => em.nativeUpdate(UserSession, { userId, endedAt: null }, ended))
    this.#owners.forgetAll()
  }

  /** Whether there was such a session of this user. */
  async endOwn(id: number, userId: number): Promise<boolean> {
    const now = this.#clock()
    const own = { id, userId, ...liveAt(now) }
    const isEnded = await this.#db.records((em) =>
      em.transactional(async (tx) => {
        if ((await tx.nativeUpdate(UserSession, own, { endedAt: now })) === 0) return false
        await noteIn(tx)
        return true
      }),
    )
    this.#owners.forget(id)
    return isEnded
  }

  /** Live sessions as their user sees them, newest first. */
  async list(userId: number, page: PageRequest): Promise<PageOf<UserSession>> {
    const live = { userId, ...liveAt(this.#clock()), ...beforeId(page) }
    const newest = { orderBy: { id: 'desc' }, limit: page.limit + 1 } as const
    const found = await this.#db.records((em) => em.find(UserSession, live, newest))
    return toPage(found, page.limit)
  }

  /** The user of a live session. */
  ownerOf(id: number): Promise<number | undefined> {
    return this.#owners.get(id, async () => {
      const live = { id, ...liveAt(this.#clock()) }
      const found = await this.#db.records((em) =>
        em.findOne(UserSession, live, { fields: ['userId'] }),
      )
      return found?.userId
    })
  }
}

interface Refreshed {
  readonly userId: number
  readonly sessionId: number
  readonly refreshToken: string
}

/** Two tabs of one browser may use the same token at once: the second use is refused, but the session stays open. */
const GRACE_SECONDS = 10

/** SQL, since both are part of the transaction that touches the session. */
const add = 'insert into refresh_token (hash, session_id, created_at) values ($1, $2, $3)'
const use = `
  update refresh_token set used_at = $2 where hash = $1 and used_at is null
  returning session_id`

const invalidRefresh = () => failed('unauthorized', 'the refresh token is not valid')

const usedRefresh = () =>
  failed('unauthorized', 'the refresh token was used a moment ago', {
    reason: 'refresh_token_used',
  })

/** A second use means that the token was copied: the session ends for the owner and the thief alike. */
async function endReused(sessions: Sessions, sessionId: number, { ip, requestId }: RequestClient) {
  const author = { via: 'code', action: 'session.reused', ip, requestId } as const
  await changedBy(author, () => sessions.end(sessionId))
}

export function createRefreshTokens(
  db: Database,
  sessions: Sessions,
  clock: Clock,
  logger: Logger,
) {
  async function issue(tx: Queryable, sessionId: number): Promise<string> {
    const token = newToken('ref')
    await tx.query(add, [hashSecret(token), sessionId, clock()])
    return token
  }

  async function rotate(tx: Queryable, hash: Buffer, client: RequestClient) {
    const [used] = await tx.query<{ session_id: number }>(use, [hash, clock()])
    if (!used) return undefined
    const sessionId = used.session_id
    const userId = await sessions.touch(tx, sessionId, client)
    if (userId === undefined) throw invalidRefresh()
    return { userId, sessionId, refreshToken: await issue(tx, sessionId) }
  }

  const find = (hash: Buffer) => db.records((em) => em.findOne(RefreshToken, { hash }))

  /** Whether the session lives on, because the first use of the token was a moment ago. */
  async function outlivesReuse(hash: Buffer, client: RequestClient): Promise<boolean> {
    const { usedAt, sessionId } = (await find(hash)) ?? {}
    if (!usedAt || sessionId === undefined) return false
    if (secondsAfter(usedAt, GRACE_SECONDS) > clock()) {
      return (await sessions.ownerOf(sessionId)) !== undefined
    }
    logger.warn({ session: sessionId }, 'a refresh token was used twice; its session is ended')
    await endReused(sessions, sessionId, client)
    return false
  }

  return {
    issue,

    /** The user whose session the token belongs to; undefined where it has ended or there is none. */
    async ownerOf(token: string): Promise<number | undefined> {
      const found = isToken('ref', token) ? await find(hashSecret(token)) : undefined
      return found ? sessions.ownerOf(found.sessionId) : undefined
    },

    async refresh(token: string, client: RequestClient): Promise<Refreshed> {
      if (!isToken('ref', token)) throw invalidRefresh()
      const hash = hashSecret(token)
      const refreshed = await db.transaction((tx) => rotate(tx, hash, client))
      if (refreshed) return refreshed
      throw (await outlivesReuse(hash, client)) ? usedRefresh() : invalidRefresh()
    },

    /** Ends the session that the token belongs to, if there is one. */
    async revoke(token: string): Promise<void> {
      if (!isToken('ref', token)) return
      const found = await find(hashSecret(token))
      if (found) await sessions.end(found.sessionId)
    },
  }
}
