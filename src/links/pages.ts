/** Who may open the page of one link flow: whoever has its token, until the flow's time is over. */
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import { hashSecret, isToken, newToken } from '../security/secrets.ts'

export interface PagePlace {
  readonly sessionId: string
  readonly userId: number
}

export class LinkPages {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  /** The token is in this answer and nowhere else; a flow's earlier one opens nothing any more. */
  async create(sessionId: string): Promise<string> {
    const token = newToken('lnk')
    await this.#db.query(
      `insert into link_page (session_id, hash) values ($1, $2)
       on conflict (session_id) do update set hash = excluded.hash, created_at = now()`,
      [sessionId, hashSecret(token)],
    )
    return token
  }

  /** Rejects with `not_found` whatever is wrong with the token. */
  async find(token: string): Promise<PagePlace> {
    if (!isToken('lnk', token)) throw failed('not_found')
    const [row] = await this.#db.query<{ id: string; user_id: number }>(
      `select s.id, s.user_id from link_page p join link_session s on s.id = p.session_id
        where p.hash = $1 and s.expires_at > now()`,
      [hashSecret(token)],
    )
    if (!row) throw failed('not_found')
    return { sessionId: row.id, userId: row.user_id }
  }
}
