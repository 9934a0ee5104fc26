/** Link sessions in Postgres. The data from which another process resumes a flow is sealed. */

import type { AccountIdentity } from '../../actors/ports/platform.ts'
import type { LinkFacts, LinkStore, Platforms } from '../../actors/ports/ports.ts'
import { type LinkState, OPEN_STATES, type ShownStep } from '../../machines/link/events.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { LinkReason } from '../../machines/model/reason.ts'
import { holdUser } from '../accounts/users.ts'
import { storedReason } from '../credentials/reasons.ts'
import type { Database } from '../database/database.ts'
import { databaseNow, LinkSession, mayBeSignedIn } from '../database/entities.ts'
import { ifReadable, type Vault } from '../security/vault.ts'
import { type Finished, finishLink, type Held, onlyFor } from './finish.ts'

export interface NewLink {
  readonly sessionId: string
  readonly userId: number
  readonly platform: string
  readonly method: string
  /** The credential that is linked again, if one was named. */
  readonly relinks: number | undefined
  readonly target: string | undefined
  /** Undefined for one that is accepted at once: it has failed until the account is stored. */
  readonly step: ShownStep | undefined
  readonly stored: Json
  readonly attemptsLeft: number
  readonly expiresAt: number
}

export interface StoredLink extends LinkFacts {
  readonly userId: number
  readonly method: string
  /** The incarnation of the node that has it. */
  readonly node: number | null
  /** What is stored of it can never be read: nobody can go on with it, or sign it out. */
  readonly isUnreadable: boolean
  /** Stands for the phone, address or bot that is tried. */
  readonly target: string | undefined
}

/** A link that still waits for an answer, as a list names it. */
export interface OpenLink {
  readonly sessionId: string
  readonly platform: string
  readonly method: string
  readonly state: LinkState
  /** The credential that is linked again, if one was named. */
  readonly relinks: number | undefined
  /** The account that is being linked, partly hidden; by one of both, or by none where it names itself later. */
  readonly phone: string | undefined
  readonly jid: string | undefined
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

interface OpenLinksPage {
  readonly limit: number
  /** The last link of the page before. */
  readonly before: Pick<OpenLink, 'sessionId' | 'expiresAt'> | undefined
}

const placeOf = (sessionId: string) => ({
  table: 'link_session',
  column: 'stored',
  row: sessionId,
})
const ownerOf = (userId: number) => `user:${userId}`

interface LinkWorld {
  readonly db: Database
  readonly vault: Vault
  readonly platforms: Platforms
  /** Credentials that this node owns already. */
  readonly held: Held
  /** The number of this start of the process. */
  incarnation(): number | null
  /** The node that runs from now on what is linked here; null for whichever claims it. */
  owner(): number | null
  /** The account is this node's to run. */
  onFinish(finished: Finished): Promise<void>
}

const begin = `
  insert into link_session (id, user_id, platform, method, state, step, stored, attempts_left, relinks,
    expires_at, target, node) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

/** It is this node's, or of one that has ended. */
const isOurs = (node: string) => `(l.node is not distinct from ${node}
      or not exists (select from node n where n.id = l.node and n.ended_at is null))`

/**
 * The second time, after an answer that was lost, it finds its own end. One that was ended before keeps its end; as long as
 * there is a secret, nobody has had its session signed out.
 */
const endOwn = `
  update link_session l set node = $5,
    state = case when state = any ($6) then $2 else state end,
    attempts_left = case when state = any ($6) then $3 else attempts_left end,
    reason = case when state = any ($6) then $4 else reason end
  where id = $1 and (
    (state = any ($6) or state <> 'linked' and stored is not null) and ${isOurs('$5')}
    or state = $2 and node is not distinct from $5)
  returning 1`

/** A flow of nobody else whose session may be signed in. */
type LeftLink = Pick<StoredLink, 'sessionId' | 'platform' | 'attemptsLeft'>

const left = `
  select id as "sessionId", platform, attempts_left as "attemptsLeft", expires_at::text as "expiresAt"
    from link_session l
   where ${mayBeSignedIn} and ${isOurs('$1')}`

/** An actor has noticed the end by then, if there is one. */
const NOTICED = '30 seconds'
/** Each asks its network. */
const AT_ONCE = 20

const leftOverdue = `${left} and platform = any ($2)
     and expires_at < now() - interval '${NOTICED}' and (expires_at, id) > ($3::timestamptz, $4)
   order by expires_at, id limit ${AT_ONCE}`

const leftOf = `${left} and user_id = $2`

const START = { expiresAt: '-infinity', sessionId: '' }

export class PostgresLinkStore implements LinkStore {
  readonly #world: LinkWorld
  readonly #db: Database
  readonly #vault: Vault
  /** The last flow that the last look came to. */
  #lookedTo = START
  #onErased: (userId: number) => void = () => undefined

  constructor(world: LinkWorld) {
    this.#world = world
    this.#db = world.db
    this.#vault = world.vault
  }

  /** Rejects while the user is being erased. */
  async create(link: NewLink): Promise<void> {
    const { sessionId, userId, platform, method, step, attemptsLeft, expiresAt } = link
    const { relinks = null, target = null } = link
    const stored = await this.#seal(sessionId, userId, link.stored)
    const state = step?.state ?? 'failed'
    const values = [
      ...[sessionId, userId, platform, method, state, step && JSON.stringify(step), stored],
      ...[attemptsLeft, relinks, new Date(expiresAt), target, this.#world.incarnation()],
    ]
    await this.#db.transaction(async (tx) => {
      await holdUser(tx, userId)
      await tx.query(begin, values)
    })
  }

  async load(sessionId: string): Promise<StoredLink | undefined> {
    const link = await this.#db.records((em) => em.findOne(LinkSession, { id: sessionId }))
    if (!link) return undefined
    const stored =
      link.stored && (await ifReadable(this.#vault.open(placeOf(sessionId), link.stored)))
    return {
      sessionId,
      userId: link.userId,
      platform: link.platform,
      method: link.method,
      node: link.node ?? null,
      state: link.state,
      step: link.step ?? undefined,
      stored: stored ? (JSON.parse(stored.toString()) as Json) : null,
      isUnreadable: Boolean(link.stored) && !stored,
      attemptsLeft: link.attemptsLeft,
      expiresAt: link.expiresAt.getTime(),
      credentialId: link.credentialId ?? undefined,
      reason: storedReason<LinkReason>(link.reason ?? null),
      target: link.target ?? undefined,
    }
  }

  /** The next of those whose time is over, and then from the first again: one that cannot be ended keeps no other from it. */
  async leftOverdue(): Promise<LeftLink[]> {
    const { platforms, incarnation } = this.#world
    // Until its network is available again, a session cannot be signed out.
    const available = [...platforms].filter(([, { unavailable }]) => !unavailable)
    const found = await this.#db.query<LeftLink & typeof START>(leftOverdue, [
      ...[incarnation(), available.map(([id]) => id)],
      ...[this.#lookedTo.expiresAt, this.#lookedTo.sessionId],
    ])
    this.#lookedTo = (found.length === AT_ONCE && found.at(-1)) || START
    return found
  }

  leftOf(userId: number): Promise<LeftLink[]> {
    return this.#db.query(leftOf, [this.#world.incarnation(), userId])
  }

  /** Whether it is the number of this node. */
  isOwn(node: number | null): boolean {
    return node === this.#world.incarnation()
  }

  /** Resolves with the number of this node, which has the flow now; undefined where its node lives, or is another already. */
  async adopt(sessionId: string, from: number | null): Promise<number | undefined> {
    const self = this.#world.incarnation()
    const adopted = await this.#db.query(
      `update link_session set node = $3 where id = $1 and node is not distinct from $2
          and not exists (select from node where id = $2 and ended_at is null) returning 1`,
      [sessionId, from, self],
    )
    return adopted.length > 0 ? (self ?? undefined) : undefined
  }

  /** The links of a user that are neither over nor out of time, newest first: all live equally long. */
  async open(userId: number, { limit, before }: OpenLinksPage): Promise<OpenLink[]> {
    const expiresAt = before && new Date(before.expiresAt)
    const found = await this.#db.records((em) =>
      em.find(
        LinkSession,
        {
          userId,
          state: { $in: [...OPEN_STATES] },
          expiresAt: { $gt: databaseNow() },
          ...(before &&
            expiresAt && {
              $or: [
                { expiresAt: { $lt: expiresAt } },
                { expiresAt, id: { $lt: before.sessionId } },
              ],
            }),
        },
        { orderBy: { expiresAt: 'desc', id: 'desc' }, limit },
      ),
    )
    return found.map((link) => ({
      sessionId: link.id,
      platform: link.platform,
      method: link.method,
      state: link.state,
      relinks: link.relinks ?? undefined,
      phone: link.step?.phone,
      jid: link.step?.jid,
      expiresAt: link.expiresAt.getTime(),
    }))
  }

  async saveStep(sessionId: string, step: ShownStep, stored: Json): Promise<void> {
    const id = sessionId
    const link = await this.#db.records((em) =>
      em.findOne(LinkSession, { id }, { fields: ['userId'] }),
    )
    if (!link) throw new Error('the link session is gone')
    const sealed = await this.#seal(id, link.userId, stored)
    const change = { state: step.state, step, stored: sealed }
    const open = { id, state: { $in: [...OPEN_STATES] } }
    await this.#db.records((em) => em.nativeUpdate(LinkSession, open, change))
  }

  /** A flow ends only once. Its secret stays until its session is signed out. */
  async saveEnd(
    sessionId: string,
    state: LinkState,
    attemptsLeft: number,
    reason?: LinkReason,
  ): Promise<boolean> {
    const change = { state, attemptsLeft, reason: reason ?? null }
    const open = { id: sessionId, state: { $in: [...OPEN_STATES] } }
    const own = await this.#db.query(endOwn, [
      ...[sessionId, state, attemptsLeft, reason ?? null, this.#world.incarnation(), OPEN_STATES],
    ])
    if (own.length > 0) return true
    await this.#db.records((em) => em.nativeUpdate(LinkSession, open, change))
    return false
  }

  /** The same row update says whether it is linked: a late `finish`, of whichever actor, finds the claim. */
  async claimLeft(sessionId: string): Promise<boolean> {
    const claimed = await this.#db.query(
      `update link_session set signing_out = true
        where id = $1 and state <> 'linked' and state <> all ($2) and node is not distinct from $3
        returning 1`,
      [sessionId, OPEN_STATES, this.#world.incarnation()],
    )
    // One that is gone cannot be linked.
    return claimed.length > 0 || !(await this.#isThere(sessionId))
  }

  async saveLeft(sessionId: string): Promise<void> {
    const [saved] = await this.#db.query<{ erased: number | null }>(
      `update link_session l set stored = null
        where id = $1 and state <> all ($2) and stored is not null
        returning (select id from app_user where id = l.user_id and erasing_at is not null) as erased`,
      [sessionId, OPEN_STATES],
    )
    if (typeof saved?.erased === 'number') this.#onErased(saved.erased)
  }

  /** Calls back when the session of a flow is signed out, or given up, whose user is being erased: the erasure goes on. */
  onErased(listener: (userId: number) => void): void {
    this.#onErased = listener
  }

  /** Throws for any other account than the one that is linked again. */
  onlyFor(relinks: number): Promise<(native: string) => void> {
    return onlyFor(this.#db, this.#vault, relinks)
  }

  async finish(sessionId: string, account: AccountIdentity, secrets: Json): Promise<number> {
    const { db, vault, platforms, held, owner, onFinish } = this.#world
    const leavesSession = (platform: string) => platforms.get(platform)?.signOut !== undefined
    const node = this.#world.incarnation()
    const ending = { sessionId, node, owner: owner(), account, secrets, leavesSession }
    const finished = await finishLink(db, vault, ending, held)
    await onFinish(finished)
    return finished.credentialId
  }

  async #isThere(sessionId: string): Promise<boolean> {
    return (await this.#db.records((em) => em.count(LinkSession, { id: sessionId }))) > 0
  }

  async #seal(sessionId: string, userId: number, stored: Json): Promise<Buffer | null> {
    if (stored === null) return null
    const text = Buffer.from(JSON.stringify(stored))
    return this.#vault.seal(ownerOf(userId), placeOf(sessionId), text)
  }
}

/** The secret of a flow that is over goes earlier, once its session is signed out (`saveLeft`). */
export async function forgetLinks(db: Database): Promise<void> {
  await db.records((em) =>
    em.nativeDelete(LinkSession, { expiresAt: { $lt: databaseNow('7 days') } }),
  )
}
