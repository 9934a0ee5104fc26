/** Every statement that changes what belongs to a credential is fenced by its epoch, or stands here with the reason. */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t from 'tap'
import { testDatabase } from './support/database.ts'

const source = join(import.meta.dirname, '..', 'src')

const user = 'what its user orders counts, whichever node is asked'
const added = 'an amount that is added'
const history = 'a line of history: it is kept, whoever wrote it'
const old = 'what is old or belongs to a deleted account goes, whoever removes it'

/** By file and table: why a statement needs no fence. */
const unfenced: Readonly<Record<string, string>> = {
  'alerts/incidents.ts incident_account': 'what incidents hold is judged by one node at a time',
  'alerts/settings.ts alert_setting': user,
  'bulk/actions.ts bulk_item': 'an outcome is stored once, whoever acted',
  'bulk/relinks.ts relink_page': user,
  'bulk/tags.ts credential': user,
  'credentials/identity.ts credential': 'the same facts, sealed',
  'credentials/timeline.ts credential_transition':
    'history is kept, whoever wrote it; what is old goes',
  'identities/store.ts message_identity': old,
  'identities/store.ts chat_identity': 'the integer comes from a sequence: it is given once',
  'keys/changes.ts api_key': user,
  'keys/store.ts api_key': 'a cursor and the time of a use only grow',
  'links/finish.ts credential': 'a new credential has no owner yet',
  'links/finish.ts credential_log': 'a new credential has no owner yet',
  'links/finish.ts link_session': 'a link is its user’s, and has no owner',
  'links/store.ts link_session': 'a link is its user’s, and has no owner',
  'media/downloads.ts media_path': 'a path to a file: the same for every node',
  'media/downloads.ts media_path_count': 'a count that only grows',
  'bot-api/idempotency.ts idempotent_call':
    'the key of a call is taken once, whichever node is asked',
  'bot-api/methods/profile.ts bot_profile': user,
  'diagnosis/diagnoses.ts diagnosis': 'a run is its user’s, and has no owner',
  'nodes/orders.ts credential':
    'where an account is to run is the operator’s to say, not its owner’s',
  'nodes/sign-outs.ts credential_transition': history,
  'nodes/sign-outs.ts pending_sign_out': 'a session that nobody uses any more has no owner',
  'observability/request-journal.ts request_log': history,
  'observability/request-journal.ts usage_hour': added,
  'platforms/telegram/storage/locations.ts telegram_message': old,
  'platforms/xmpp/rooms/kept.ts xmpp_room': old,
  'privacy/erase.ts credential': old,
  'privacy/erase.ts credential_log': old,
  'privacy/erase.ts link_session': old,
  'updates/commit.ts chat_identity': 'a part of the statement that checks the epoch (moved)',
  'updates/commit.ts message_identity': 'a part of the statement that checks the epoch (moved)',
  'updates/pending.ts update_block': 'a count of what is stored: the same for whoever counts',
  'updates/retention.ts api_key': 'what retention takes is counted, whichever node does it',
  'updates/retention.ts update_block': old,
  'updates/retention.ts update_log': old,
  'webhooks/delivery-log.ts webhook_delivery': history,
  'exchanges/calls.ts call_exchange': history,
  'exchanges/log.ts webhook_exchange': history,
  'exchanges/log.ts api_key': user,
  'webhooks/webhooks.ts credential_transition': history,
  'credentials/shares.ts account_share': user,
  'keys/changes.ts key_holder': user,
  'privacy/erase.ts account_share': old,
  'privacy/erase.ts pending_sign_out': 'a session that nobody uses any more has no owner',
  'webhooks/secrets.ts webhook_secret': user,
  'webhooks/store.ts webhook': 'in the transaction that holds the credential (#asOwner)',
  'webhooks/store.ts api_key': 'in the transaction that holds the credential (#asOwner)',
}

/** Where the name of the table is put together: it cannot be read here. */
const byName: Readonly<Record<string, string>> = {
  'observability/usage.ts': 'old hours become days at once, whoever adds them up',
  'privacy/erase.ts': old,
  'platforms/telegram/storage/locations.ts': old,
}

const change = /\b(?:insert\s+into|update|delete\s+from)\s+([a-z_]+|\$\{\w+\})/g
/** Seconds since 1970 are no fence. */
const fence = /\bepoch\b(?! from )|\bownedRows\b|\$\{owned\}|\bisOwned\b/

interface Written {
  readonly file: string
  readonly table: string
  readonly isFenced: boolean
}

/** Writes of the ORM: `em.nativeUpdate(ApiKey, where, change)`. Up to its end, a statement stands on few lines. */
const recordChange =
  /\.(?:insert|insertMany|upsert|upsertMany|nativeUpdate|nativeDelete)\(\s*([A-Z]\w+)(?:[^()]|\([^()]*\))*\)/g

/** Tables by the names of their entities. */
async function tablesOfEntities(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(source, 'database/entities.ts'), 'utf8')
  const named = /name: '(\w+)',\s+tableName: '(\w+)'/g
  return new Map([...text.matchAll(named)].map(([, entity = '', table = '']) => [entity, table]))
}
const entities = await tablesOfEntities()

function recordWrites(file: string, code: string): Written[] {
  return [...code.matchAll(recordChange)].map(([statement, entity = '']) => ({
    file,
    table: entities.get(entity) ?? entity,
    isFenced: fence.test(statement),
  }))
}

/** Every string of a file with the tables that it changes, and every write of the ORM. */
function statements(file: string, text: string): Written[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const strings = code.match(/`(?:[^`\\]|\\[\s\S])*`|'(?:[^'\\\n]|\\.)*'/g) ?? []
  const written = strings.flatMap((string) =>
    [...string.matchAll(change)].map(([, table = '']) => ({
      file,
      table,
      isFenced: fence.test(string),
    })),
  )
  return [...written, ...recordWrites(file, code)]
}

async function tablesOfCredentials(): Promise<Set<string>> {
  const { database } = await testDatabase(t)
  const rows = await database.query<{ name: string }>(
    `select distinct table_name as name from information_schema.columns
      where table_schema = 'public' and column_name in ('credential_id', 'api_key_id')`,
  )
  return new Set(['credential', ...rows.map(({ name }) => name)])
}

const tables = await tablesOfCredentials()
const found: Written[] = []
for (const name of await readdir(source, { recursive: true })) {
  if (!name.endsWith('.ts') || name.startsWith('panel') || name.includes('migrations')) continue
  const path = join(source, name)
  found.push(...statements(relative(source, path), await readFile(path, 'utf8')))
}
const places = (written: readonly Written[]) => [
  ...new Set(written.map(({ file, table }) => `${file} ${table}`)),
]

t.test('the tables of a credential are known', async (t) => {
  for (const table of ['credential', 'api_key', 'webhook', 'message_identity', 'telegram_peer']) {
    t.ok(tables.has(table), table)
  }
  t.ok(found.length > 100, 'and the statements are found')
  const ofRecords = [...new Set(entities.values())]
  for (const table of ofRecords.filter((one) => tables.has(one))) {
    const isWritten = found.some((one) => one.table === table)
    t.ok(isWritten, `${table} is written`)
  }
})

t.test('what is written for a credential is fenced, or reviewed', async (t) => {
  const open = found.filter(({ table, isFenced }) => tables.has(table) && !isFenced)
  t.same(
    places(open).filter((place) => !(place in unfenced)),
    [],
    'add the epoch to the statement; or to the list, with the reason',
  )
  const unused = Object.keys(unfenced).filter((place) => !places(open).includes(place))
  t.same(unused, [], 'what is fenced by now is no exception')
})

t.test('a statement whose table is put together is fenced, or reviewed', async (t) => {
  const open = found.filter(({ table, isFenced }) => table.startsWith('$') && !isFenced)
  t.same(
    [...new Set(open.map(({ file }) => file))].filter((file) => !(file in byName)),
    [],
  )
})
