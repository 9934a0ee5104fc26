/** Every statement that reads or changes rows of many users stands here with its reason: a second cell would have to answer it too. */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t from 'tap'

const source = join(import.meta.dirname, '..', 'src')

const old = 'removes what is old, whoever it belonged to; each cell does it for itself'
const starting = 'a start looks at all accounts of its database; each cell does it for itself'
const keys = 'keys of the service; each cell has its own'
const measured = 'a figure of one database; the metrics of all cells add up'
const server = 'asks about PostgreSQL itself, or about the processes that serve this database'
const oneUser = 'rows of one user, named in another part of the statement'

/** By file and the table that is named first: why a statement is not of one user. */
const spanning: Readonly<Record<string, string>> = {
  'accounts/accounts.ts otp_failures': old,
  'accounts/accounts.ts quota': old,
  'accounts/signing-keys.ts signing_key': keys,
  'accounts/suspensions.ts app_user':
    'each node remembers who is suspended; each cell does it for its own users',
  'accounts/tries.ts quota': oneUser,
  'alerts/incidents.ts incident': old,
  'alerts/incidents.ts incident_account': old,
  'alerts/members.ts incident':
    'what an incident of the whole service concerns; whoever asks gets the rows of one user',
  'alerts/rules.ts api_key':
    'judges the keys of all users of its database; each cell does it for itself',
  'alerts/rules.ts credential':
    'judges the accounts of all users of its database; each cell does it for itself',
  'alerts/rules.ts node': server,
  'alerts/rules.ts node_trouble': server,
  'bot-api/idempotency.ts idempotent_call': old,
  'bulk/actions.ts bulk_action':
    'looks for what is to be carried out, or removes what is old; each cell does it for itself',
  'bulk/relinks.ts relink_page': old,
  'credentials/identity.ts credential': starting,
  'credentials/ownership.ts credential': measured,
  'credentials/held-shares.ts account_share': oneUser,
  'credentials/shares.ts account_share': old,
  'credentials/timeline.ts credential': old,
  'database/durability.ts pg_settings': server,
  'database/embedded/supervisor.ts pg_database': server,
  'database/migrate.ts migration': server,
  'database/migrate.ts pg_tables': server,
  'database/migrate.ts schema_minimum': server,
  'database/migrator.ts schema_minimum': server,
  'database/write-behind.ts mark': server,
  'database/write-watch.ts write_mark': old,
  'database/write-watch.ts write_probe': server,
  'identities/store.ts chat_identity': old,
  'jobs/backend.ts pg_class': server,
  'links/store.ts link_session':
    'looks for flows of its database that nobody has ended; each cell does it for itself',
  'media/blob-rows.ts media_object': old,
  'nodes/owners.ts link_page': oneUser,
  'nodes/orders.ts credential': 'what operators have ordered of the nodes of one cell',
  'nodes/orders.ts credential_log': server,
  'nodes/endings.ts node': server,
  'nodes/orders.ts node': server,
  'nodes/table.ts node': server,
  'observability/request-journal.ts looked': oneUser,
  'observability/request-journal.ts request_log': oneUser,
  'platforms/sandbox/link.ts sandbox_person': oneUser,
  'platforms/telegram/storage/locations.ts telegram_message': old,
  'platforms/xmpp/rooms/kept.ts xmpp_room': old,
  'privacy/erase.ts app_user': starting,
  'privacy/erase.ts credential': old,
  'privacy/erase.ts pg_partition_tree': server,
  'security/vault.ts data_key': keys,
  'updates/commit.ts moved': oneUser,
  'webhooks/delivery-log.ts webhook_delivery': oneUser,
}

/** A condition that names one owner, or a list of them. */
const owned =
  /\b(?:\w*id|\w*index|key|jti|hash|owner|kid|object|blob|holder|link|session|native)\s*(?:=|in)\s*\(?\s*(?:any|\$|unnest|select|l\.|k\.|c\.)|\bunnest\(|\$\{\w*(?:where|which|mine|owned)\w*\}/i

interface Statement {
  readonly place: string
  readonly text: string
}

function statements(file: string, code: string): Statement[] {
  const bare = code.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const strings = bare.match(/`(?:[^`\\]|\\[\s\S])*`|'(?:[^'\\\n]|\\.)*'/g) ?? []
  return strings
    .filter((text) => /^['`]\s*(?:with|select|update\s+\S+\s+(?:\w+\s+)?set|delete)\b/i.test(text))
    .flatMap((text) => {
      const table = /\b(?:from|update)\s+([a-z_]{3,})/.exec(text)?.[1]
      return table === undefined ? [] : [{ place: `${file} ${table}`, text }]
    })
}

const found: Statement[] = []
for (const name of await readdir(source, { recursive: true })) {
  // People of the sandbox meet inside one cell only. Migrations are run in each.
  if (!name.endsWith('.ts') || /^(?:panel|sandbox)|migrations/.test(name)) continue
  const path = join(source, name)
  found.push(...statements(relative(source, path), await readFile(path, 'utf8')))
}

t.test('a statement is of one user, or reviewed', async (t) => {
  t.ok(found.length > 150, `${found.length} statements`)
  const open = [...new Set(found.filter(({ text }) => !owned.test(text)).map(({ place }) => place))]
  t.same(
    open.filter((place) => !(place in spanning)),
    [],
    'name the user, the account or the key in the statement; or add it to the list, with the reason',
  )
  t.same(
    Object.keys(spanning).filter((place) => !open.includes(place)),
    [],
    'what is of one user by now is no exception',
  )
})
