/** What is shown of how a webhook's last attempts ended, word for word, and only of that webhook. */
import t from 'tap'
import type { Progress } from '../../machines/webhook/progress.ts'
import { waitingByHour } from '../../src/keys/waiting.ts'
import { webhookEnds } from '../../src/webhooks/record.ts'
import { stage } from '../updates/stage.ts'

const { db, credential, key } = await stage(t)
const credentialId = await credential()
const AT = 1_800_000_000

interface Ended {
  readonly error?: string
  readonly suspended?: boolean
  readonly succeeded?: boolean
}

async function webhook({ error, suspended = false, succeeded = false }: Ended): Promise<number> {
  const id = await key(credentialId)
  await db.query(
    `insert into webhook (api_key_id, sealed, shown_url, max_connections, has_certificate,
                          last_error_at, last_error_message, suspended_at, last_success_at)
     select $1, '', '', 1, false, case when $2::text is not null then to_timestamp($5) end, $2,
            case when $3 then now() end, case when $4 then to_timestamp($5) end`,
    [id, error ?? null, suspended, succeeded, AT + 0.9],
  )
  return id
}

t.test('each state in its words', async (t) => {
  const ends = async (ended: Ended) => webhookEnds(db, await webhook(ended))
  const error = 'Connection refused'
  const nothing = { lastError: undefined, lastSuccessAt: undefined }
  t.strictSame(await ends({}), nothing)
  t.strictSame(await ends({ succeeded: true }), { lastError: undefined, lastSuccessAt: AT })
  const failed = { at: AT, message: error }
  t.strictSame(await ends({ error }), { lastError: failed, lastSuccessAt: undefined })
  t.strictSame(await ends({ error, succeeded: true }), { lastError: failed, lastSuccessAt: AT })
  t.strictSame(await ends({ error, suspended: true }), {
    lastError: {
      at: AT,
      message: `The webhook was suspended after 7 days of nothing but failures: ${error}`,
    },
    lastSuccessAt: undefined,
  })
  t.strictSame(await ends({ suspended: true }), nothing, 'there is no time of an error')
  t.strictSame(await webhookEnds(db, await key(credentialId)), nothing, 'without a webhook')
})

t.test('within what a long chat spans, only its own updates wait', async (t) => {
  const own = await credential()
  const id = await key(own)
  await db.query(
    `insert into update_log (credential_id, update_id, source_key, kind, chat_id, payload)
     select $1, n, n::text, 0, 7 + n % 2, '"message":{}' from generate_series(11, 17) n`,
    [own],
  )
  await db.query('update credential_log set next_update_id = 18 where credential_id = $1', [own])
  const progress: Progress = {
    cursor: 10,
    head: 16,
    waiting: 3,
    open: [12, 16],
    apart: [12, 12],
    long: [['8', 13, 16, 2]],
  }
  await db.query('update api_key set cursor = 10, webhook_progress = $2 where id = $1', [
    id,
    JSON.stringify(progress),
  ])
  const { hours, oldestAt } = await waitingByHour(db, id)
  t.equal(
    hours.reduce((sum, { updates }) => sum + Number(updates), 0),
    4,
    'and what was not read yet',
  )
  t.ok(oldestAt)
})
