/** Erases users, and the rows of deleted accounts: signs accounts out, deletes rows and files, destroys the keys of sealed data. */

import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../actors/ports/ports.ts'
import { OPEN_STATES } from '../../machines/link/events.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import { mayBeSignedIn } from '../database/entities.ts'
import type { Vault } from '../security/vault.ts'
import { type PersonalTable, personalTables } from './tables.ts'

interface EraserOptions {
  readonly db: Database
  readonly vault: Pick<Vault, 'shred'>
  readonly logger: Logger
  /** Signs the account out on its network and ends its keys; rejects when that takes too long. */
  deleteAccount(credentialId: number): Promise<void>
  /** Whether this node runs the account. */
  owns(credentialId: number): boolean
  /** Resolves once the other nodes have had time for their part: `assist`. */
  tellOthers(userId: number): Promise<void>
  /** Ends every sign-in of this user. */
  signOut(userId: number): Promise<void>
  /** Ends link flows under way and signs them out: none may sign in on a network for a user who is erased. */
  endLinks(userId: number): Promise<void>
  /** Removes the user's keys from memory: a late call with one of them is refused like one with an unknown key. */
  forgetKeys(userId: number): Promise<void>
  /** Writes buffered rows, so that none is written after the deletion. */
  flush(): Promise<void>
  /** Removes files that no row names. */
  sweepFiles(): Promise<void>
}

const AT_ONCE = 10
const NOT_YET = 'a user was not erased yet'

/**
 * What stays to sign out the sessions that deletions and link flows have left: who they belong to, and the key that opens
 * them. Of these rows all else goes at once, so that the phone may sign in anew.
 */
const emptied: Readonly<Record<string, (db: Database, userId: number) => Promise<unknown>>> = {
  pending_sign_out: async () => undefined,
  link_session: async (db, userId) => {
    await db.query(`delete from link_session where user_id = $1 and not (${mayBeSignedIn})`, [
      userId,
    ])
    await db.query(
      `update link_session set step = null, target = null, reason = null, relinks = null,
              credential_id = null, resend_at = null, expires_at = least(expires_at, now()),
              state = case when state = any ($2) then 'cancelled' else state end
        where user_id = $1`,
      [userId, OPEN_STATES],
    )
  },
  credential: async (db, userId) => {
    const left = 'select credential_id from pending_sign_out where user_id = $1'
    await db.query(`delete from credential where user_id = $1 and id not in (${left})`, [userId])
    await db.query(`update credential set tags = '{}', pinned_node = null where user_id = $1`, [
      userId,
    ])
  },
  app_user: (db, userId) =>
    db.query(
      `update app_user set phone_index = $2, phone_sealed = '' where id = $1 and phone_sealed <> ''`,
      [userId, randomBytes(32)],
    ),
}
const STAYS_AT_MOST = '1 day'

export class Eraser {
  readonly #options: EraserOptions
  readonly #underWay = new Map<number, Promise<boolean>>()

  constructor(options: EraserOptions) {
    this.#options = options
  }

  /** Resolves with whether it is complete; otherwise `resume` continues it, at the latest within the hour. */
  async erase(userId: number): Promise<boolean> {
    const { db, signOut, logger } = this.#options
    const marked = await db.query(
      'update app_user set erasing_at = coalesce(erasing_at, now()) where id = $1 returning id',
      [userId],
    )
    if (marked.length === 0) throw failed('not_found')
    const notYet = (err: unknown) => {
      logger.error({ err, userId }, NOT_YET)
      return false
    }
    // The user may not be able to ask again, so whatever fails, the erasure goes on.
    await signOut(userId).catch(notYet)
    return this.#once(userId).catch(notYet)
  }

  /** Continues the erasures that were interrupted. */
  async resume(): Promise<void> {
    const { db, logger } = this.#options
    const rows = await db.query<{ id: number }>(
      'select id from app_user where erasing_at is not null order by id',
    )
    for (const { id } of rows) {
      await this.#once(id).catch((err) => logger.error({ err, userId: id }, NOT_YET))
    }
  }

  /** The last session that kept an erasure from its end may be signed out now. A run under way may not know that yet. */
  async goOn(userId: number): Promise<void> {
    await this.#underWay.get(userId)?.catch(() => undefined)
    if (await this.#isErasing(userId)) await this.#once(userId)
  }

  /** Another node erases this user: what only this one can end or write is done here. Never rejects. */
  async assist(userId: number): Promise<void> {
    const { endLinks, owns, flush, logger } = this.#options
    try {
      if (!(await this.#isErasing(userId)) || this.#underWay.has(userId)) return
      await flush()
      await endLinks(userId)
      await this.#deleteAccounts(userId, owns)
    } catch (err) {
      logger.warn({ err, userId }, 'the part of this node in an erasure failed')
    }
  }

  async #isErasing(userId: number): Promise<boolean> {
    const erasing = await this.#options.db.query(
      'select from app_user where id = $1 and erasing_at is not null',
      [userId],
    )
    return erasing.length > 0
  }

  /** One erasure of a user at a time. */
  #once(userId: number): Promise<boolean> {
    const known = this.#underWay.get(userId)
    if (known) return known
    const erasing = this.#run(userId).finally(() => this.#underWay.delete(userId))
    this.#underWay.set(userId, erasing)
    return erasing
  }

  async #run(userId: number): Promise<boolean> {
    const { endLinks, forgetKeys, flush, sweepFiles, tellOthers, logger } = this.#options
    await tellOthers(userId)
    await endLinks(userId)
    if (!(await this.#deleteAccounts(userId))) return false
    await forgetKeys(userId)
    await tellOthers(userId)
    let isComplete = false
    const isWiped = await inRounds(async () => {
      await flush()
      isComplete = await this.#wipe(userId)
    })
    if (!isWiped) return false
    await sweepFiles()
    const line = isComplete ? 'a user was erased' : 'a user is erased once networks have signed out'
    logger.info({ userId }, line)
    return isComplete
  }

  async #deleteAccounts(
    userId: number,
    isMeant: (credentialId: number) => boolean = () => true,
  ): Promise<boolean> {
    const { db, deleteAccount, logger } = this.#options
    const all = await db.query<{ id: number }>(
      'select id from credential where user_id = $1 and deactivated_at is null order by id',
      [userId],
    )
    const rows = all.filter(({ id }) => isMeant(id))
    let isDone = true
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const deleting = rows.slice(at, at + AT_ONCE).map(async ({ id }) => {
        await deleteAccount(id).catch((err) => {
          isDone = false
          logger.warn(
            { err, credentialId: id },
            'an account of a user who is erased was not deleted yet',
          )
        })
      })
      await Promise.all(deleting)
    }
    return isDone
  }

  /** Whether sessions of this user are left to be signed out. */
  async #hasLeft(userId: number): Promise<boolean> {
    const left = await this.#options.db.query(
      `select from app_user u
        where u.id = $1 and u.erasing_at > now() - interval '${STAYS_AT_MOST}'
          and (exists (select from pending_sign_out where user_id = u.id)
            or exists (select from link_session where user_id = u.id and ${mayBeSignedIn}))`,
      [userId],
    )
    return left.length > 0
  }

  /** Only its owner can end it from now on, in the list of devices: nobody here has its secrets any more. */
  async #giveUpLeft(userId: number): Promise<void> {
    const { db, logger } = this.#options
    const rows = await db.query<{ credentialId: number; platform: string }>(
      `delete from pending_sign_out where user_id = $1
       returning credential_id as "credentialId", platform`,
      [userId],
    )
    const flows = await db.query<{ platform: string }>(
      `delete from link_session where user_id = $1 and ${mayBeSignedIn} returning platform`,
      [userId],
    )
    for (const facts of [...rows, ...flows]) {
      logger.warn(
        { userId, ...facts },
        'a session of a user who is erased stays signed in: its network did not end it',
      )
    }
  }

  /** Resolves with whether nothing is left. */
  async #wipe(userId: number): Promise<boolean> {
    const { db, vault } = this.#options
    const hasLeft = await this.#hasLeft(userId)
    if (!hasLeft) await this.#giveUpLeft(userId)
    const credentials = await db.query<{ id: number }>(
      'select id from credential where user_id = $1',
      [userId],
    )
    for (const table of personalTables) {
      if (table.name === 'media_blob') await orphanFiles(db, userId)
      // Keys are destroyed before the rows that name their owner, so that an interrupted erasure can continue.
      if (table.name === 'credential') {
        for (const { id } of credentials) await vault.shred(`credential:${id}`)
      }
      const empty = hasLeft ? emptied[table.name] : undefined
      if (empty) {
        await empty(db, userId)
        continue
      }
      if (table.name === 'app_user') await vault.shred(`user:${userId}`)
      const ids = table.of === 'user' ? [userId] : credentials.map(({ id }) => id)
      for (const id of ids) await wipeTable(db, table, id)
    }
    return !hasLeft
  }
}

/** Names the files for the sweep, before the rows that name them are deleted. */
async function orphanFiles(db: Database, userId: number): Promise<void> {
  await db.query(
    `insert into media_object (object, since)
     select object, '-infinity' from media_blob where user_id = $1 on conflict do nothing`,
    [userId],
  )
}

const WIPED_AT_ONCE = 5_000

/** The parts that hold the rows of a table: those of a partitioned one, or itself. */
const parts = `
  select part::regclass::text as part from (select relid from pg_partition_tree($1::regclass)
    where isleaf union select $1::regclass where not exists (
      select from pg_partition_tree($1::regclass))) as leaves (part)`

export async function wipeTable(db: Database, table: PersonalTable, id: number): Promise<void> {
  for (const { part } of await db.query<{ part: string }>(parts, [table.name])) {
    for (let removed = WIPED_AT_ONCE; removed === WIPED_AT_ONCE; ) {
      const gone = await db.query(
        `delete from ${part} where ctid = any (array(
           select ctid from ${part} where ${table.where} limit ${WIPED_AT_ONCE})) returning 1`,
        [id],
      )
      removed = gone.length
    }
  }
}

/** Other nodes may keep accepting a sign-in for five seconds. */
const ROUNDS = 5
const ROUND_MS = 2_000

/** Repeats the deletion while other requests still write rows that refer to deleted ones. False: they keep writing. */
export async function inRounds(wipe: () => Promise<void>): Promise<boolean> {
  for (let round = 1; ; round++) {
    try {
      await wipe()
      return true
    } catch (cause) {
      if (!isReferenced(cause)) throw cause
      if (round === ROUNDS) return false
      await pause(ROUND_MS)
    }
  }
}

const isReferenced = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === '23503'

/** Deletes all that came from the network or names people there: no key is left that could read it. */
export async function wipeAccount(db: Database, credentialId: number): Promise<void> {
  for (const table of personalTables) {
    if (table.endsWithAccount) await wipeTable(db, table, credentialId)
  }
  await db.query('delete from account_share where credential_id = $1', [credentialId])
  await db.query('update credential_log set checkpoint = null where credential_id = $1', [
    credentialId,
  ])
}

/** Deleted accounts with rows left: older versions kept them, or they were written during the deletion. */
const leftovers = `
  select id from credential c where deactivated_at is not null and (
    ${personalTables
      .filter(({ endsWithAccount }) => endsWithAccount)
      .map(({ name }) => `exists (select from ${name} where credential_id = c.id) or`)
      .join('\n    ')}
    exists (select from account_share where credential_id = c.id) or
    exists (select from credential_log where credential_id = c.id and checkpoint is not null))`

export async function wipeDeletedAccounts(db: Database): Promise<void> {
  for (const { id } of await db.query<{ id: number }>(leftovers)) await wipeAccount(db, id)
}
