/** What is shown of how a webhook's last attempts ended, word for word, and only of that webhook. */
import t from 'tap'
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
