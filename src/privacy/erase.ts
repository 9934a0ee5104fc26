/** Erases a user: signs their accounts out, deletes every row and file, and destroys the key of what was sealed. */
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'
import type { Vault } from '../security/vault.ts'
import { personalTables } from './tables.ts'
import { inRounds, wipeTable } from './wipe.ts'

export interface EraserOptions {
  readonly db: Database
  readonly vault: Pick<Vault, 'shred'>
  readonly log: Log
  /** Signs the account out on its network and ends its keys; rejects when that takes too long. */
  deleteAccount(credentialId: number): Promise<void>
  /** Nobody is signed in as this user any more. */
  signOut(userId: number): Promise<void>
  /** Ends link flows under way: nothing may sign in on a network for somebody who is gone. */
  endLinks(userId: number): Promise<void>
  /** Lets go of what memory has of the user's keys: a late call with one of them is a stranger's. */
  forgetKeys(userId: number): Promise<void>
  /** Writes what buffers still hold, so that nothing comes after the deletion. */
  flush(): Promise<void>
  /** Removes files that no row names. */
  sweepFiles(): Promise<void>
}

export interface Eraser {
  /** Resolves with whether it is done; otherwise it goes on, at the latest within the hour. */
  erase(userId: number): Promise<boolean>
  /** Goes on with what was cut off. */
  resume(): Promise<void>
}

const AT_ONCE = 10

export function createEraser(options: EraserOptions): Eraser {
  const { db, vault, log } = options
  const underWay = new Map<number, Promise<boolean>>()

  async function deleteAccounts(userId: number): Promise<boolean> {
    const rows = await db.query<{ id: number }>(
      'select id from credential where user_id = $1 and deactivated_at is null order by id',
      [userId],
    )
    let isDone = true
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const deleting = rows.slice(at, at + AT_ONCE).map(async ({ id }) => {
        await options.deleteAccount(id).catch((err) => {
          isDone = false
          log.warn(
            { err, credentialId: id },
            'an account of a user who is erased was not deleted yet',
          )
        })
      })
      await Promise.all(deleting)
    }
    return isDone
  }

  async function wipe(userId: number): Promise<void> {
    const credentials = await db.query<{ id: number }>(
      'select id from credential where user_id = $1',
      [userId],
    )
    for (const table of personalTables) {
      if (table.name === 'media_blob') await orphanFiles(userId)
      // Before the rows that tell whose keys they are: one that is cut off here goes on with them.
      if (table.name === 'credential') {
        for (const { id } of credentials) await vault.shred(`credential:${id}`)
      }
      if (table.name === 'app_user') await vault.shred(`user:${userId}`)
      const ids = table.of === 'user' ? [userId] : credentials.map(({ id }) => id)
      for (const id of ids) await wipeTable(db, table, id)
    }
  }

  /** Before their rows go: the sweep removes what is named here. */
  async function orphanFiles(userId: number): Promise<void> {
    await db.query(
      `insert into media_object (object, since)
       select object, '-infinity' from media_blob where user_id = $1 on conflict do nothing`,
      [userId],
    )
  }

  async function run(userId: number): Promise<boolean> {
    await options.endLinks(userId)
    if (!(await deleteAccounts(userId))) return false
    await options.forgetKeys(userId)
    const isWiped = await inRounds(async () => {
      await options.flush()
      await wipe(userId)
    })
    if (!isWiped) return false
    await options.sweepFiles()
    log.info({ userId }, 'a user was erased')
    return true
  }

  function erase(userId: number): Promise<boolean> {
    const known = underWay.get(userId)
    if (known) return known
    const erasing = run(userId).finally(() => underWay.delete(userId))
    underWay.set(userId, erasing)
    return erasing
  }

  return {
    async erase(userId) {
      const marked = await db.query(
        'update app_user set erasing_at = coalesce(erasing_at, now()) where id = $1 returning id',
        [userId],
      )
      if (marked.length === 0) throw failed('not_found')
      await options.signOut(userId)
      return await erase(userId)
    },

    async resume() {
      const rows = await db.query<{ id: number }>(
        'select id from app_user where erasing_at is not null order by id',
      )
      for (const { id } of rows) {
        await erase(id).catch((err) => log.error({ err, userId: id }, 'a user was not erased yet'))
      }
    },
  }
}
