/** Tokens for the page of one link flow, valid until the flow expires. */
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import { databaseNow, LinkPage, LinkSession } from '../database/entities.ts'
import { hashSecret, isToken, newToken } from '../security/secrets.ts'

interface PagePlace {
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
    const page = { sessionId, hash: hashSecret(token), createdAt: databaseNow() }
    await this.#db.records((em) => em.upsert(LinkPage, page))
    return token
  }

  /** Rejects with `not_found` for every wrong token. */
  async find(token: string): Promise<PagePlace> {
    if (!isToken('lnk', token)) throw failed('not_found')
    const hash = hashSecret(token)
    const link = await this.#db.records(async (em) => {
      const page = await em.findOne(LinkPage, { hash })
      const live = page && { id: page.sessionId, expiresAt: { $gt: databaseNow() } }
      return live && em.findOne(LinkSession, live, { fields: ['userId'] })
    })
    if (!link) throw failed('not_found')
    return { sessionId: link.id, userId: link.userId }
  }
}
