/** The owner of an endpoint that gets nothing is told once, and so are the operators, however often the service restarts. */
import t from 'tap'
import type { WebhookKey } from '../../actors/ports/webhooks.ts'
import { Notices } from '../../src/webhooks/webhooks.ts'
import { until } from '../support/client.ts'
import { stage } from '../updates/stage.ts'

const { db, credential, key } = await stage(t)

/** A service that has just started. */
function fresh() {
  const warnings: object[] = []
  let statements = 0
  const counting: typeof db = {
    ...db,
    query: (...asked) => db.query<never>(...asked).finally(() => statements++),
  }
  const logger = { info() {}, error() {}, warn: (fields: object) => void warnings.push(fields) }
  const notices = new Notices({ db: counting, logger, node: 'node' })
  const tell = async (key: WebhookKey, notice: 'suspended' | 'removed', since: number) => {
    const before = statements
    notices.notify(key, notice, since)
    await until(() => statements > before)
  }
  return { notices, tell, warnings }
}

const lines = (credentialId: number) =>
  db.query(
    `select event, reason, actor, floor(duration_ms / 60000.0)::int as minutes
       from credential_transition where credential_id = $1 order by id`,
    [credentialId],
  )

async function webhookKey(credentialId: number): Promise<WebhookKey> {
  return { apiKeyId: await key(credentialId), userId: 1, credentialId, epoch: 0 }
}

t.test('once in the timeline and once in the log, whatever restarts', async (t) => {
  const account = await credential()
  const [one, other] = [await webhookKey(account), await webhookKey(account)]
  const stranger = await webhookKey(await credential())
  const since = Date.now() - 60_000
  const first = fresh()
  await first.tell(one, 'suspended', since)
  first.notices.notify(one, 'suspended', since)
  const { apiKeyId, credentialId } = one
  const warning = { apiKeyId, userId: 1, credentialId, notice: 'suspended' }
  t.strictSame(first.warnings, [warning])

  const second = fresh()
  await second.tell(one, 'suspended', since)
  t.strictSame(second.warnings, [], 'the timeline knows')
  for (const key of [other, stranger]) await second.tell(key, 'suspended', since)
  await second.tell(one, 'removed', since)
  await second.tell(one, 'suspended', Date.now() + 60_000)
  t.match(
    second.warnings,
    [
      { apiKeyId: other.apiKeyId },
      { apiKeyId: stranger.apiKeyId },
      { apiKeyId, notice: 'removed' },
      { apiKeyId, notice: 'suspended' },
    ],
    'neither other keys, nor this one of something else or of a new failure',
  )

  const [mine, others] = [`api_key:${apiKeyId}`, `api_key:${other.apiKeyId}`]
  const suspended = { event: 'webhook.suspended', reason: 'failing_7_days' }
  t.strictSame(await lines(credentialId), [
    { ...suspended, actor: mine, minutes: 1 },
    { ...suspended, actor: others, minutes: 1 },
    { event: 'webhook.removed', reason: 'gone', actor: mine, minutes: 1 },
    { ...suspended, actor: mine, minutes: 0 },
  ])
})

t.test('a notice that could not be written is told the next time', async (t) => {
  const one = await webhookKey(await credential())
  let isAway = true
  const shaky: typeof db = {
    ...db,
    query: (...asked) => (isAway ? Promise.reject(new Error('away')) : db.query<never>(...asked)),
  }
  const lines = () =>
    db.query('select event from credential_transition where credential_id = $1', [one.credentialId])
  const warnings: string[] = []
  const logger = {
    info() {},
    error() {},
    warn: (_: object, text: string) => void warnings.push(text),
  }
  const notices = new Notices({ db: shaky, logger, node: 'node' })
  notices.notify(one, 'removed', 1)
  await until(() => warnings.length > 0)
  t.strictSame([warnings, await lines()], [['a notice could not be written'], []])
  isAway = false
  notices.notify(one, 'removed', 1)
  await until(() => warnings.length > 1)
  t.strictSame(await lines(), [{ event: 'webhook.removed' }])
})
