/** Link sessions in Postgres. What another process needs to go on is sealed. */

import type { LinkFacts, LinkStore } from '../../actors/link/actor.ts'
import type { AccountIdentity, Json } from '../../actors/ports/platform.ts'
import type { LinkState, ShownStep } from '../../machines/link/events.ts'
import type { LinkReason } from '../../machines/model/reason.ts'
import { storedReason } from '../credentials/reasons.ts'
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'
import { type Finished, finishLink, type Held } from './finish.ts'

export interface NewLink {
  readonly sessionId: string
  readonly userId: number
  readonly platform: string
  readonly method: string
  /** The credential that is linked again, if one was named. */
  readonly relinks: number | undefined
  readonly target: string | undefined
  readonly step: ShownStep | undefined
  readonly stored: Json
  readonly attemptsLeft: number
  readonly expiresAt: number
}

export interface StoredLink extends LinkFacts {
  readonly userId: number
  readonly method: string
  /** Stands for the phone, address or bot that is tried. */
  readonly target: string | undefined
}

interface Row {
  readonly id: string
  readonly user_id: number
  readonly platform: string
  readonly method: string
  readonly state: LinkState
  readonly step: ShownStep | null
  readonly stored: Buffer | null
  readonly attempts_left: number
  readonly reason: string | null
  readonly credential_id: number | null
  readonly target: string | null
  readonly expires_at: Date
}

const placeOf = (sessionId: string) => ({
  table: 'link_session',
  column: 'stored',
  row: sessionId,
})
const ownerOf = (userId: number) => `user:${userId}`

export class PostgresLinkStore implements LinkStore {
  readonly #db: Database
  readonly #vault: Vault
  readonly #onFinish: (finished: Finished) => Promise<void>

  readonly #held: Held

  constructor(
    db: Database,
    vault: Vault,
    onFinish: (finished: Finished) => Promise<void>,
    held: Held,
  ) {
    this.#held = held
    this.#db = db
    this.#vault = vault
    this.#onFinish = onFinish
  }

  async create(link: NewLink): Promise<void> {
    const sealed = await this.#seal(link.sessionId, link.userId, link.stored)
    await this.#db.query(
      `insert into link_session
         (id, user_id, platform, method, state, step, stored, attempts_left, relinks, expires_at,
          target)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        link.sessionId,
        link.userId,
        link.platform,
        link.method,
        link.step?.state ?? 'code_sent',
        link.step === undefined ? null : JSON.stringify(link.step),
        sealed,
        link.attemptsLeft,
        link.relinks ?? null,
        new Date(link.expiresAt),
        link.target ?? null,
      ],
    )
  }

  async load(sessionId: string): Promise<StoredLink | undefined> {
    const [row] = await this.#db.query<Row>('select * from link_session where id = $1', [sessionId])
    if (!row) return undefined
    const stored = row.stored && (await this.#vault.open(placeOf(sessionId), row.stored))
    return {
      sessionId,
      userId: row.user_id,
      platform: row.platform,
      method: row.method,
      state: row.state,
      step: row.step ?? undefined,
      stored: stored ? (JSON.parse(stored.toString()) as Json) : null,
      attemptsLeft: row.attempts_left,
      expiresAt: row.expires_at.getTime(),
      credentialId: row.credential_id ?? undefined,
      reason: storedReason<LinkReason>(row.reason),
      target: row.target ?? undefined,
    }
  }

  async saveStep(sessionId: string, step: ShownStep, stored: Json): Promise<void> {
    const [row] = await this.#db.query<{ user_id: number }>(
      'select user_id from link_session where id = $1',
      [sessionId],
    )
    if (!row) throw new Error('the link session is gone')
    const sealed = await this.#seal(sessionId, row.user_id, stored)
    await this.#db.query(
      `update link_session set state = $2, step = $3, stored = $4
        where id = $1 and state in ('code_sent', 'password_needed', 'waiting')`,
      [sessionId, step.state, JSON.stringify(step), sealed],
    )
  }

  /** An ended flow keeps no secret. */
  async saveEnd(
    sessionId: string,
    state: LinkState,
    attemptsLeft: number,
    reason?: LinkReason,
  ): Promise<void> {
    const isOpen = ['code_sent', 'password_needed', 'waiting'].includes(state)
    await this.#db.query(
      `update link_session set state = $2, attempts_left = $3, reason = $4,
              stored = case when $5 then stored end where id = $1 and state <> 'linked'`,
      [sessionId, state, attemptsLeft, reason ?? null, isOpen],
    )
  }

  async finish(sessionId: string, account: AccountIdentity, secrets: Json): Promise<number> {
    const finished = await finishLink(
      this.#db,
      this.#vault,
      { sessionId, account, secrets },
      this.#held,
    )
    await this.#onFinish(finished)
    return finished.credentialId
  }

  async #seal(sessionId: string, userId: number, stored: Json): Promise<Buffer | null> {
    if (stored === null) return null
    const text = Buffer.from(JSON.stringify(stored))
    return this.#vault.seal(ownerOf(userId), placeOf(sessionId), text)
  }
}

/** A flow that is over keeps no secret, and after a week not even its name. */
export async function forgetLinks(db: Database): Promise<void> {
  await db.query(
    'update link_session set stored = null where stored is not null and expires_at < now()',
  )
  await db.query(`delete from link_session where expires_at < now() - interval '7 days'`)
}
