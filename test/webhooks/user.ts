/** A database with one user: what is logged of nobody's webhooks is not stored. */
import type { Test } from 'tap'
import { testDatabase } from '../support/database.ts'

export const USER = 1

export async function databaseOfUser(t: Pick<Test, 'teardown'>) {
  const made = await testDatabase(t)
  await made.database.query(
    `insert into app_user (id, phone_index, phone_sealed) overriding system value
     values ($1, '', '')`,
    [USER],
  )
  return made
}
