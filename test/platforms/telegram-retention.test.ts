/** What is stored of Telegram accounts besides their events does not stay for ever. */
import t from 'tap'
import { retainTelegram } from '../../src/platforms/telegram/storage/locations.ts'
import { testDatabase } from '../support/database.ts'

t.test('old places of messages go, and everything of deactivated accounts', async (t) => {
  const { database: db } = await testDatabase(t)
  const [used, left] = await db.query<{ id: number }>(
    `with owner as (
       insert into app_user (phone_index, phone_sealed) values ('\\x01', '') returning id)
     insert into credential (user_id, platform, native_id, account, deactivated_at)
     select owner.id, 'telegram', native, '{}', gone
       from owner, (values ('1', null::timestamptz), ('2', now())) as account (native, gone)
     returning id`,
  )
  await db.query(
    `insert into telegram_message (credential_id, message_id, chat_id, at)
     values ($1, 1, 7, now() - interval '31 days'), ($1, 2, 7, now() - interval '29 days'),
            ($2, 1, 7, now())`,
    [used?.id, left?.id],
  )
  await db.query(
    `insert into telegram_peer (credential_id, id, access_hash, is_min, complete)
     values ($1, 7, 'hash', false, ''), ($2, 7, 'hash', false, '')`,
    [used?.id, left?.id],
  )
  await retainTelegram(db, 30)
  t.strictSame(await db.query('select credential_id, message_id from telegram_message'), [
    { credential_id: used?.id, message_id: 2 },
  ])
  t.strictSame(await db.query('select credential_id from telegram_peer'), [
    { credential_id: used?.id },
  ])
})
