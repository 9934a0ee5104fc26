/** Sessions that a new link or a deletion has left signed in on their networks: one node signs each out once nobody uses it. */
import { randomUUID } from 'node:crypto'
import { within } from '../../actors/host/time.ts'
import { type Lease, SessionPermit } from '../../actors/node/lease.ts'
import type { Logger, Platforms } from '../../actors/ports/ports.ts'
import type { Json } from '../../machines/model/protocol.ts'
import { noteChange } from '../audit/log.ts'
import { secretsOf } from '../credentials/identity.ts'
import type { Database, Queryable } from '../database/database.ts'
import { ifReadable, type Vault } from '../security/vault.ts'

/** Sealed for its user, because the keys of its account are destroyed when that is deleted. */
interface LeftSession {
  readonly id: string
  readonly secrets: Buffer
}

const placeOf = (id: string) => ({ table: 'pending_sign_out', column: 'secrets', row: id })

/** Call it before the transaction that keeps it. */
export async function sealLeft(
  vault: Pick<Vault, 'seal'>,
  userId: number,
  secrets: Buffer,
): Promise<LeftSession> {
  const id = randomUUID()
  return { id, secrets: await vault.seal(`user:${userId}`, placeOf(id), secrets) }
}

/** The session of an account, and its secrets as its row has them. */
export interface OwnSession {
  readonly was: Buffer
  readonly left: LeftSession
}

/** Undefined where nobody can read its secrets, or `isLeft` says that it goes on. */
export async function sealOwn(
  db: Pick<Database, 'query'>,
  vault: Pick<Vault, 'open' | 'seal'>,
  credentialId: number,
  isLeft: (secrets: Json) => boolean = () => true,
): Promise<OwnSession | undefined> {
  const [row] = await db.query<{ user_id: number; secrets: Buffer | null }>(
    'select user_id, secrets from credential where id = $1',
    [credentialId],
  )
  if (!row?.secrets) return undefined
  const opened = await ifReadable(vault.open(secretsOf(credentialId), row.secrets))
  if (!opened || !isLeft(JSON.parse(opened.toString()) as Json)) return undefined
  return { was: row.secrets, left: await sealLeft(vault, row.user_id, opened) }
}

/**
 * For this time after it was left, its own session may still be closing, and that of an owner before that was cut off may
 * still be there.
 */
const SETTLES_SECONDS = 15

/** A statement that keeps a session, with the SQL of its values: `old` is the account with the `links` that it had. */
export const keepLeft = (id: string, secrets: string, owner: string): string =>
  `insert into pending_sign_out (id, user_id, credential_id, platform, link, owner, secrets, due_at)
   select ${id}::uuid, old.user_id, old.id, old.platform, old.links, ${owner}::integer, ${secrets}::bytea,
          now() + interval '${SETTLES_SECONDS} seconds' from old`

/** The network has ended the session of that link, so it is not kept any more. */
export async function forgetLeft(
  db: Pick<Database, 'query'>,
  credentialId: number,
  link: number,
): Promise<void> {
  await db.query('delete from pending_sign_out where credential_id = $1 and link = $2', [
    credentialId,
    link,
  ])
}

const LOOK_MS = 5_000
const ROWS_AT_ONCE = 100
/** Networks that do not answer take the whole time for each: a few of them do not keep the others waiting. */
const LANES = 10
const TAKES_MS = 25_000
/** Longer than a try takes, so that two nodes never try at once. It doubles each time. */
const FIRST_PAUSE_SECONDS = 60
const LONGEST_PAUSE_SECONDS = 6 * 3_600
const GIVEN_UP_AFTER = '7 days'

interface Due {
  readonly id: string
  readonly credentialId: number
  readonly link: number
  readonly owner: number | null
}

interface Taken {
  readonly id: string
  readonly userId: number
  readonly credentialId: number
  readonly platform: string
  readonly secrets: Buffer
  readonly tries: number
  readonly isLast: boolean
}

/**
 * Those that no other node can use: their owner gave the account away, or is this node, or has ended so long ago that it
 * has no connection any more (`Endings`).
 */
const due = `
  select p.id, p.credential_id as "credentialId", p.link, p.owner
    from pending_sign_out p left join node n on n.id = p.owner
   where p.due_at <= now()
     and (p.owner is null or p.owner = $1 or n.id is null or n.ended_at < now() - interval '10 seconds')
   order by row_number() over (partition by p.platform order by p.due_at), p.due_at limit ${ROWS_AT_ONCE}`

const take = `
  update pending_sign_out set tries = tries + 1,
         due_at = now() + make_interval(secs => least(${FIRST_PAUSE_SECONDS} * 2 ^ least(tries, 20), ${LONGEST_PAUSE_SECONDS}))
   where id = $1 and due_at <= now()
  returning id, user_id as "userId", credential_id as "credentialId", platform, secrets, tries,
            created_at < now() - interval '${GIVEN_UP_AFTER}' as "isLast"`

interface SignOutsOptions {
  readonly db: Database
  readonly vault: Pick<Vault, 'open'>
  readonly platforms: Platforms
  readonly lease: Lease
  readonly node: string
  incarnation(): number | null
  /** Whether this process may have a session open of that link or of one before. */
  uses(credentialId: number, link: number): boolean
  /** A session of this user, who is being erased, is signed out or given up: the erasure goes on. */
  erased(userId: number): Promise<void>
  readonly logger: Logger
}

export class SignOuts {
  readonly #options: SignOutsOptions
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  /** Users who are being erased and of whom one is over. */
  readonly #ofErased = new Set<number>()

  constructor(options: SignOutsOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), LOOK_MS)
  }

  /** What is under way is tried again by another node, or after the next start. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort()
    await this.#looking
  }

  /** Never rejects. One look at a time. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((err) => {
        if (this.#stopping.signal.aborted) return
        this.#options.logger.warn({ err }, 'sessions that are left were not looked for')
      })
      .finally(() => {
        this.#looking = undefined
      })
    return this.#looking
  }

  async #look(): Promise<void> {
    const { db, lease, incarnation, uses, erased, logger } = this.#options
    if (!lease.isValid) return
    const self = incarnation()
    const rows = await db.query<Due>(due, [self])
    const isUsed = ({ owner, credentialId, link }: Due) =>
      owner === self && uses(credentialId, link)
    // All lanes take from one iterator.
    const left = rows.values()
    const lane = async () => {
      for (const row of left) {
        if (this.#stopping.signal.aborted) return
        if (isUsed(row)) await this.#postpone(row)
        else await this.#take(row)
      }
    }
    const lanes = await Promise.allSettled(Array.from({ length: LANES }, lane))
    // It takes longer than a look.
    for (const userId of this.#ofErased) {
      erased(userId).catch((err) =>
        logger.warn({ err, userId }, 'an erasure did not go on after a sign-out'),
      )
    }
    this.#ofErased.clear()
    const failed = lanes.find((ended) => ended.status === 'rejected')
    if (failed) throw failed.reason
  }

  async #postpone({ id }: Due): Promise<void> {
    await this.#options.db.query(
      `update pending_sign_out set due_at = now() + interval '${SETTLES_SECONDS} seconds' where id = $1`,
      [id],
    )
  }

  async #take({ id }: Due): Promise<void> {
    const { db, logger } = this.#options
    const [taken] = await db.query<Taken>(take, [id])
    if (!taken) return
    const { credentialId, platform, tries } = taken
    try {
      if (await this.#signOut(taken)) {
        logger.info({ credentialId, platform, tries }, 'a session that was left is signed out')
      }
      await this.#forget(taken)
    } catch (err) {
      if (this.#stopping.signal.aborted) return
      const facts = { err, credentialId, platform, tries }
      if (!taken.isLast) return logger.info(facts, 'a session that was left is not signed out yet')
      logger.warn(facts, 'a session that was left stays signed in: its network did not end it')
      await this.#giveUp(taken)
    }
  }

  /** False where its secrets are destroyed. */
  async #signOut({ id, platform: name, secrets }: Taken): Promise<boolean> {
    const { vault, platforms, lease } = this.#options
    const opened = await ifReadable(vault.open(placeOf(id), secrets))
    if (opened === undefined) return false
    const platform = platforms.get(name)
    if (!platform?.signOut) throw new Error(`the platform ${name} is not available`)
    const left = JSON.parse(opened.toString()) as Json
    const permit = new SessionPermit(lease, true)
    try {
      await within(TAKES_MS, this.#stopping.signal, async (signal) =>
        platform.signOut?.(left, permit, signal),
      )
    } finally {
      permit.end()
    }
    return true
  }

  async #forget({ id }: Taken, db: Queryable = this.#options.db): Promise<void> {
    const [row] = await db.query<{ erased: number | null }>(
      `delete from pending_sign_out p where id = $1
       returning (select id from app_user where id = p.user_id and erasing_at is not null) as erased`,
      [id],
    )
    if (typeof row?.erased === 'number') this.#ofErased.add(row.erased)
  }

  /**
   * Its user can still end it in the network's list of devices, and learns it where they look: in the timeline of the account,
   * or in the audit log where that is deleted.
   */
  #giveUp(taken: Taken): Promise<void> {
    const { db, node } = this.#options
    const { credentialId, platform, userId } = taken
    return db.transaction(async (tx) => {
      const told = await tx.query(
        `insert into credential_transition (credential_id, at, from_state, to_state, event, duration_ms, actor, node)
         select id, clock_timestamp(), machine_state, machine_state, 'signout.failed', 0, 'node:' || $2, $2
           from credential where id = $1 and deactivated_at is null returning 1`,
        [credentialId, node],
      )
      if (told.length === 0) {
        const left = { target: ['account', credentialId], after: { platform }, userId } as const
        await noteChange(tx, left, { via: 'service', action: 'account.session_left' })
      }
      await this.#forget(taken, tx)
    })
  }
}
