/** Refresh tokens: each is good for one use, and a second use ends the session they belong to. */
import { failed } from '../../machines/model/failure.ts'
import type { Database, Queryable } from '../database/database.ts'
import type { Log } from '../database/log.ts'
import { hashSecret, isToken, newToken } from '../security/secrets.ts'
import type { Client } from './client.ts'
import { type Clock, secondsAfter } from './clock.ts'
import type { Sessions } from './sessions.ts'

export interface Refreshed {
  readonly userId: number
  readonly sessionId: number
  readonly refreshToken: string
}

/** Two tabs of one browser may use the same token at once: the slower one is refused, the session lives on. */
const GRACE_SECONDS = 10

const add = 'insert into refresh_token (hash, session_id, created_at) values ($1, $2, $3)'
const use = `
  update refresh_token set used_at = $2 where hash = $1 and used_at is null
  returning session_id`
const find = 'select session_id, used_at from refresh_token where hash = $1'

const invalid = () => failed('unauthorized', 'the refresh token is not valid')

export function createRefreshTokens(db: Database, sessions: Sessions, clock: Clock, log: Log) {
  async function issue(tx: Queryable, sessionId: number): Promise<string> {
    const token = newToken('ref')
    await tx.query(add, [hashSecret(token), sessionId, clock()])
    return token
  }

  async function rotate(tx: Queryable, hash: Buffer, client: Client) {
    const [used] = await tx.query<{ session_id: number }>(use, [hash, clock()])
    if (!used) return undefined
    const sessionId = used.session_id
    const userId = await sessions.touch(tx, sessionId, client)
    if (userId === undefined) return undefined
    return { userId, sessionId, refreshToken: await issue(tx, sessionId) }
  }

  /** Somebody has a copy: whoever has the newer token, the owner or the thief, is stopped with it. */
  async function noticeReuse(hash: Buffer): Promise<void> {
    const [token] = await db.query<{ session_id: number; used_at: Date | null }>(find, [hash])
    if (!token?.used_at || secondsAfter(token.used_at, GRACE_SECONDS) > clock()) return
    log.warn({ session: token.session_id }, 'a refresh token was used twice; its session is ended')
    await sessions.end(db, token.session_id)
  }

  return {
    issue,

    async refresh(token: string, client: Client): Promise<Refreshed> {
      if (!isToken('ref', token)) throw invalid()
      const hash = hashSecret(token)
      const refreshed = await db.transaction((tx) => rotate(tx, hash, client))
      if (refreshed) return refreshed
      await noticeReuse(hash)
      throw invalid()
    },

    /** Ends the session that the token belongs to, if there is one. */
    async revoke(token: string): Promise<void> {
      if (!isToken('ref', token)) return
      const [found] = await db.query<{ session_id: number }>(find, [hashSecret(token)])
      if (found) await sessions.end(db, found.session_id)
    },
  }
}
