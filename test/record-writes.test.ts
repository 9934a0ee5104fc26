/** Every write of a record table in plain SQL stands here with its reason: all others go by MikroORM. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { entities } from '../src/database/entities.ts'

const source = join(import.meta.dirname, '../src')

const transaction = 'part of a transaction of plain SQL, with row locks or other statements'
const atOnce = 'decides and writes in one statement, from columns of the row or of other tables'
const fenced = 'the statement holds only while the epoch is that of the writing node'
const batch = 'many rows in one statement'
const command = 'shared with a command of the operator, which starts without MikroORM'

/** By file, verb and table. */
const inSql: Readonly<Record<string, string>> = {
  'accounts/codes.ts delete otp_challenge': transaction,
  'accounts/codes.ts insert otp_challenge': transaction,
  'accounts/personal-tokens.ts insert personal_token': transaction,
  'accounts/personal-tokens.ts update personal_token': atOnce,
  'accounts/sessions.ts insert refresh_token': transaction,
  'accounts/sessions.ts insert user_session': transaction,
  'accounts/sessions.ts update refresh_token': transaction,
  'accounts/sessions.ts update user_session': transaction,
  'accounts/signing-keys.ts insert signing_key': transaction,
  'accounts/signing-keys.ts update signing_key': transaction,
  'accounts/suspensions.ts update app_user': transaction,
  'accounts/tries.ts update otp_challenge': atOnce,
  'audit/log.ts insert audit_log': transaction,
  'audit/read.ts delete audit_log': batch,
  'bulk/tags.ts update credential': batch,
  'credentials/fence.ts update credential': atOnce,
  'credentials/health.ts update credential': batch,
  'credentials/identity.ts update credential': batch,
  'credentials/receive-settings.ts update credential': fenced,
  'credentials/store.ts update api_key': fenced,
  'credentials/store.ts update credential': fenced,
  'credentials/timeline.ts update credential': batch,
  'keys/changes.ts insert api_key': transaction,
  'keys/changes.ts update api_key': atOnce,
  'keys/store.ts update api_key': batch,
  'links/finish.ts insert credential': transaction,
  'links/finish.ts update credential': transaction,
  'links/finish.ts update link_session': transaction,
  'links/store.ts insert link_session': transaction,
  'links/store.ts update link_session': atOnce,
  'media/downloads.ts insert media_path': atOnce,
  'media/downloads.ts update media_path': atOnce,
  'nodes/orders.ts update credential': command,
  'privacy/erase.ts delete credential': batch,
  'privacy/erase.ts delete link_session': batch,
  'privacy/erase.ts update app_user': atOnce,
  'privacy/erase.ts update credential': batch,
  'privacy/erase.ts update link_session': batch,
  'updates/retention.ts update api_key': batch,
  'webhooks/progress-store.ts update api_key': batch,
  'webhooks/store.ts update api_key': transaction,
  'webhooks/webhooks.ts update api_key': fenced,
}

const tables = entities.map(({ meta }) => meta.tableName)
const writing = new RegExp(
  `\\b(insert) into (${tables.join('|')})\\b(?=[\\s\`'(])|\\b(update|delete)(?: from)? (${tables.join('|')})\\b(?=[\\s\`'])`,
  'g',
)

t.test('a write of a record table in plain SQL has a reason', async (t) => {
  const files = globSync('**/*.ts', { cwd: source, exclude: ['database/migrations/**'] })
  const found = files.flatMap((file) =>
    [...readFileSync(join(source, file), 'utf8').matchAll(writing)].map(
      ([, insert, inserted, verb = insert, table = inserted]) => `${file} ${verb} ${table}`,
    ),
  )
  t.same([...new Set(found)].sort(), Object.keys(inSql).sort())
})
