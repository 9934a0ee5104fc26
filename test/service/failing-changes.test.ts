/** Each statement of changes of the management API fails in turn: what is said not to be made is not, or may be repeated. */
import pg from 'pg'
import t from 'tap'
import { type Answer, ask, until } from '../support/client.ts'
import { FailingStatements } from '../support/failing-statements.ts'
import { scene } from './scene.ts'

t.setTimeout(400_000)
const developerPhone = '+14157770001'
const { service, client, ada, bot, credentialId, keyId } = await scene(t, {
  env: { WRONG_KEYS_PER_MINUTE: '1000000', WEBHOOK_ALLOW_PRIVATE: 'true', ALLOW_PRIVATE_URLS: '1' },
})
const developer = await service.client(developerPhone)
const statements = new FailingStatements(t)
const database = new pg.Client({ connectionString: service.databaseUrl })
await database.connect()
t.teardown(() => database.end())

const made = [
  ...['audit_log', 'saved_view', 'personal_token', 'bulk_action', 'account_share', 'link_session'],
  ...['api_key', 'webhook', 'diagnosis', 'credential'],
]
const { rows: tables } = await database.query<{ relname: string }>(
  `select relname from pg_class where relkind = 'r' and relname = any ($1)`,
  [made],
)
t.same(tables.map(({ relname }) => relname).sort(), made.sort())
const counts = made.map((relname) => `(select count(*) from ${relname})`).join(' + ')
const count = async () => Number((await database.query(`select ${counts} as total`)).rows[0].total)

const account = `/platforms/credentials/${credentialId}`
const keyPath = `/api_keys/${keyId}`
const many = '/platforms/credentials/actions'
const chosen = { credential_ids: [credentialId] }
const own = (method: string, path: string, body?: unknown) => () => client.ask(method, path, body)
let numbers = 0
const link = async () => {
  const person = await client.person('Link', `to_be_linked_${++numbers}`)
  const { session_id } = await client.result('POST', '/platforms/sandbox/link/start', {
    phone: person.phone,
  })
  return { person, path: `/platforms/sandbox/link/${session_id}` }
}
const page = async () => {
  const { person, path } = await link()
  const { token } = await client.result('POST', `${path}/page`)
  return { person, path: `/link-pages/${token}` }
}
const invited = async () => {
  await database.query('delete from account_share')
  const share = { phone: developerPhone, role: 'developer' }
  return (await client.result('POST', `${account}/shares`, share)).share_id as number
}
const shared = async () => {
  const id = await invited()
  await developer.result('POST', `/shares/${id}/accept`)
  return id
}
const incident = async () => {
  const { rows } = await database.query(
    `insert into incident (user_id, rule, subject, state, affected, opened_at)
     select id, 'accounts_out', $1, 'open', 1, now() from app_user order by id limit 1 returning id`,
    [`s${++numbers}`],
  )
  return `/alerts/${rows[0].id}`
}
const hook = 'http://127.0.0.1:9/hook'
let spare = 0
/** A webhook is set once a second for each key, and keys of one account are limited in number. */
const newKey = async () => {
  if (spare > 0) await client.ask('DELETE', `/api_keys/${spare}`)
  spare = (await client.key(credentialId)).api_key_id
  return `/api_keys/${spare}/webhook`
}
const webhook = async () => {
  const path = await newKey()
  await client.result('PUT', path, { url: hook })
  return path
}
/** A webhook with an update that can be sent again. */
const used = async () => {
  const path = await webhook()
  await client.write(ada.id, bot.id, 'once more')
  const counting = { from_update_id: 1, count_only: true }
  await until(async () => (await client.ask('POST', `${path}/resend`, counting)).status === 200)
  return path
}
const action = async (state: string) => {
  const { rows } = await database.query(
    `insert into bulk_action (user_id, kind, state, total)
     select id, 'restart', $1, 0 from app_user order by id limit 1 returning id`,
    [state],
  )
  return `${many}/${rows[0].id}`
}

type Changes = Readonly<Record<string, () => Promise<() => Promise<Answer>>>>

/** Each makes what its request needs, and gives the request. */
const posts: Changes = {
  'a page of a link': async () => own('POST', `${(await link()).path}/page`),
  tags: async () =>
    own('POST', '/platforms/credentials/tags', { ...chosen, add: [`t${++numbers % 9}`] }),
  'a view': async () => {
    await database.query('delete from saved_view')
    return own('POST', '/user/views', { name: 'All', query: {} })
  },
  'an action on many accounts': async () => {
    await database.query(`update bulk_action set state = 'finished', ended_at = now()`)
    return own('POST', many, { ...chosen, kind: 'restart' })
  },
  'the stop of an action': async () => own('POST', `${await action('running')}/stop`),
  'an action taken up again': async () => own('POST', `${await action('stopped')}/resume`),
  'a test of an account': async () => own('POST', `${account}/test`, {}),
  'an invitation': async () => {
    await database.query('delete from account_share')
    return own('POST', `${account}/shares`, { phone: developerPhone, role: 'viewer' })
  },
  'an invitation accepted': async () => {
    const id = await invited()
    return () => developer.ask('POST', `/shares/${id}/accept`)
  },
  'an incident acknowledged': async () => own('POST', `${await incident()}/acknowledge`),
  'an incident silenced': async () => own('POST', `${await incident()}/silence`, { minutes: 5 }),
  'a secret of alerts': async () => {
    await client.result('PUT', '/alerts/settings', { minutes: 5, webhook: { url: hook } })
    return own('POST', '/alerts/settings/secret')
  },
  'a diagnosis': async () => own('POST', `${keyPath}/diagnosis`, {}),
  'a step of a diagnosis': async () => {
    const { diagnosis_id } = await client.result('POST', `${keyPath}/diagnosis`, {})
    return own('POST', `${keyPath}/diagnosis/${diagnosis_id}/next`)
  },
  'a secret of a webhook': async () => own('POST', `${await webhook()}/secret`),
  'a replay': async () => own('POST', `${await webhook()}/replay`, { from_update_id: 1 }),
  'a resend': async () => own('POST', `${await used()}/resend`, { from_update_id: 1 }),
}
/** What was done by one of these may be done once more. */
const repeatable: Changes = {
  'the end of a link': async () => own('DELETE', (await link()).path),
  'a code on a page': async () => {
    const { person, path } = await page()
    const otp = await client.code(person.id)
    return () => ask(service.url, 'POST', `${path}/answer`, { otp })
  },
  'the end of a view': async () => {
    const { view_id } = await client.result('POST', '/user/views', { name: 'All', query: {} })
    return own('DELETE', `/user/views/${view_id}`)
  },
  'the end of a token': async () => {
    const { token_id } = await client.result('POST', '/user/tokens', { name: 'script' })
    return own('DELETE', `/user/tokens/${token_id}`)
  },
  'settings of an account': async () =>
    own('PATCH', `${account}/settings`, { include_self_updates: ++numbers % 2 === 0 }),
  'another role': async () =>
    own('PATCH', `${account}/shares/${await shared()}`, { role: 'viewer' }),
  'the end of a share': async () => own('DELETE', `${account}/shares/${await shared()}`),
  'a share left': async () => {
    const id = await shared()
    return () => developer.ask('DELETE', `/shares/${id}`)
  },
  'a silence taken back': async () => {
    const path = await incident()
    await client.result('POST', `${path}/silence`, { minutes: 5 })
    return own('DELETE', `${path}/silence`)
  },
  'settings of alerts': async () =>
    own('PUT', '/alerts/settings', { minutes: 1 + (++numbers % 50), webhook: { url: hook } }),
  'which calls are kept': async () =>
    own('PUT', `${keyPath}/requests/exchanges`, { keep: ++numbers % 2 ? 'all' : 'none' }),
  'which attempts are kept': async () =>
    own('PUT', `${keyPath}/webhook/exchanges`, { keep: ++numbers % 2 ? 'all' : 'none' }),
  'a webhook': async () => own('PUT', await newKey(), { url: hook }),
  'the end of a resend': async () => {
    const path = await used()
    await client.result('POST', `${path}/resend`, { from_update_id: 1 })
    return own('DELETE', `${path}/resend`)
  },
  'the end of a webhook': async () => own('DELETE', await webhook()),
}

const sweep = (changes: Changes, counting: { readonly count?: typeof count }) => {
  for (const [name, begin] of Object.entries(changes)) {
    t.test(name, async (t) => {
      t.same(await statements.sweep({ name, begin, ...counting, isCostly: true }), [])
    })
  }
}
sweep(posts, { count })
sweep(repeatable, {})

t.test('statements failed', async (t) => t.ok(statements.runs > 100, `${statements.runs} runs`))
