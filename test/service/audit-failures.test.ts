/** What becomes of a change whose line in the audit log cannot be written, and of a line whose answer fails; exports take turns. */
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import type { Action } from '../../src/audit/actions.ts'
import { auditRig } from './audit-rig.ts'

const phone = '+14155557001'
const { service, db, client, changes, newest } = await auditRig(t, phone)

/** Has the database refuse lines of this kind. */
async function refusing(action: Action, work: () => Promise<void>) {
  await db.query(
    `alter table audit_log add constraint refused check (action <> '${action}') not valid`,
  )
  try {
    await work()
  } finally {
    await db.query('alter table audit_log drop constraint refused')
  }
}

t.test('a change whose line cannot be written is not made', async (t) => {
  const credential = await client.link(await client.person('Fourth'))
  const { api_key_id } = await client.key(credential)
  const view = await client.result('POST', '/user/views', { name: 'kept', query: {} })
  const token = await client.result('POST', '/user/tokens', { name: 'kept' })
  const path = `/api_keys/${api_key_id}`
  const account = `/platforms/credentials/${credential}`
  const state = async () =>
    JSON.stringify([
      await db.query(
        `select id, name, allowed_ips, secret_hash, revoked_at, keeps_calls, keeps_exchanges
           from api_key order by id`,
      ),
      await db.query('select id from personal_token order by id'),
      await db.query('select id from saved_view order by id'),
      await db.query('select id from bulk_action order by id'),
      await db.query('select * from alert_setting'),
      await db.query('select id, ended_at from user_session order by id'),
      await db.query('select id, tags, include_self_updates from credential order by id'),
      await db.query('select api_key_id, sealed from webhook_secret'),
    ])
  const chosen = { credential_ids: [credential] }
  const tried: [Action, string, string, object?][] = [
    ['token.made', 'POST', '/user/tokens', { name: 'x' }],
    ['token.deleted', 'DELETE', `/user/tokens/${token.token_id}`],
    [
      'key.made',
      'POST',
      '/api_keys',
      { name: 'x', credential_id: credential, scopes: ['bot:send'] },
    ],
    ['key.changed', 'PATCH', path, { name: 'other' }],
    ['key.rotated', 'POST', `${path}/rotate`],
    ['key.revoked', 'DELETE', path],
    ['key.keeping_changed', 'PUT', `${path}/requests/exchanges`, { keep: 'all' }],
    ['key.keeping_changed', 'PUT', `${path}/webhook/exchanges`, { keep: 'all' }],
    ['webhook.secret_changed', 'POST', `${path}/webhook/secret`],
    ['view.saved', 'POST', '/user/views', { name: 'x', query: {} }],
    ['view.deleted', 'DELETE', `/user/views/${view.view_id}`],
    ['account.tagged', 'POST', '/platforms/credentials/tags', { ...chosen, add: ['x'] }],
    ['account.settings_changed', 'PATCH', `${account}/settings`, { include_self_updates: true }],
    ['bulk.started', 'POST', '/platforms/credentials/actions', { ...chosen, kind: 'restart' }],
    ['alert.settings_changed', 'PUT', '/alerts/settings', { minutes: 77 }],
    ['session.ended', 'POST', '/auth/logout', { refresh_token: client.refreshToken }],
  ]
  for (const [action, method, url, body] of tried) {
    const before = await state()
    await refusing(action, async () => {
      t.equal((await client.ask(method, url, body)).body.ok, false, `${method} ${url}`)
    })
    t.equal(await state(), before, action)
  }
})

t.test(
  'a change that was made has its line, though its answer says that something failed',
  async (t) => {
    const credential = await client.link(await client.person('Fifth'))
    const { api_key_id } = await client.key(credential)
    const stranger = await service.client()
    const { user_id: other } = await stranger.result('GET', '/user')
    // After the webhook is set, the key cannot be read back.
    await db.query(`create function taken_away() returns trigger language plpgsql as $$
    begin update api_key set user_id = ${other} where id = new.api_key_id; return new; end $$`)
    await db.query(
      'create trigger taken_away after insert on webhook for each row execute function taken_away()',
    )
    try {
      const body = { url: 'http://127.0.0.1:9/hook' }
      t.equal((await client.ask('PUT', `/api_keys/${api_key_id}/webhook`, body)).status, 404)
    } finally {
      await db.query('drop trigger taken_away on webhook')
    }
    t.match(await newest('webhook.set'), {
      target_id: new RegExp(`^${api_key_id}$`),
      after: { host: '127.0.0.1:9' },
    })
    const lines = await changes(`&action=webhook.set&target_id=${api_key_id}`)
    t.equal(lines.length, 1, 'one and no other')
  },
)

t.test(
  'a refused sign-in is answered the same, whether its line can be written or not',
  async (t) => {
    await refusing('session.refused', async () => {
      const known = await client.ask('POST', '/auth/login', { phone, otp: '000000' })
      const unknown = { phone: '+14155557999', otp: '000000' }
      const stranger = await client.ask('POST', '/auth/login', unknown)
      t.equal(known.status, 401)
      t.same(known.body, stranger.body)
    })
  },
)

t.test('exports of one user read two at a time', async (t) => {
  const holder = await db.pool.connect()
  const headers = { authorization: `Bearer ${client.token}` }
  await holder.query('begin; lock table audit_log in access exclusive mode')
  const exports = Array.from({ length: 5 }, async () => {
    const answer = await fetch(`${service.url}/audit/export`, { headers })
    return answer.text()
  })
  try {
    await setTimeout(500)
    const [reading] = await db.query<{ count: number }>(
      `select count(*)::int from pg_stat_activity
        where query like '%from audit_log%' and wait_event_type = 'Lock' and datname = current_database()`,
    )
    t.equal(reading?.count, 2)
  } finally {
    await holder.query('rollback')
    holder.release()
  }
  const texts = await Promise.all(exports)
  t.equal(new Set(texts).size, 1, 'and each has all of it')
})
