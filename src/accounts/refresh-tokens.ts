/** Refresh tokens: each is good for one use, and a second use ends the session they belong to. */

import type { Logger } from '../../actors/ports/ports.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Database, Queryable } from '../database/database.ts'
import { RefreshToken } from '../database/entities.ts'
import { hashSecret, isToken, newToken } from '../security/secrets.ts'
import type { Client } from './client.ts'
import { type Clock, secondsAfter } from './clock.ts'
import type { Sessions } from './sessions.ts'

interface Refreshed {
  readonly userId: number
  readonly sessionId: number
  readonly refreshToken: string
}

/** Two tabs of one browser may use the same token at once: the slower one is refused, the session lives on. */
const GRACE_SECONDS = 10

/** SQL, since both are part of the transaction that touches the session. */
const add = 'insert into refresh_token (hash, session_id, created_at) values ($1, $2, $3)'
const use = `
  update refresh_token set used_at = $2 where hash = $1 and used_at is null
  returning session_id`

const invalid = () => failed('unauthorized', 'the refresh token is not valid')

export function createRefreshTokens(db: Database, sessions: Sessions, clock: Clock, log: Logger) {
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

  const find = (hash: Buffer) => db.records((em) => em.findOne(RefreshToken, { hash }))

  /** A second use means that the token was copied: the session ends for the owner and the thief alike. */
  async function noticeReuse(hash: Buffer): Promise<void> {
    const token = await find(hash)
    if (!token?.usedAt || secondsAfter(token.usedAt, GRACE_SECONDS) > clock()) return
    log.warn({ session: token.sessionId }, 'a refresh token was used twice; its session is ended')
    await sessions.end(token.sessionId)
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
      const found = await find(hashSecret(token))
      if (found) await sessions.end(found.sessionId)
    },
  }
}
