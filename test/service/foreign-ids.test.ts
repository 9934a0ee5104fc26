/** Every route that names a record in its path, with a record of another user: answered like one that does not exist. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { accessRules } from '../../src/http/access.ts'
import { quietLogger } from '../support/logger.ts'
import { joinService } from '../support/shared-service.ts'
import { linkedAccount } from './scene.ts'

// The routes about accounts and keys are in sharing-routes.test.ts, those of the sandbox in sandbox-networks.test.ts.
const service = await joinService(t)
const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => database.close())
const theirs = await linkedAccount(service, 'foreign')
const { client: owner, credentialId } = theirs
const stranger = await service.client()
const phone = '+14155557199'

/** An open incident of the owner, as the alerts make it. */
async function incident(): Promise<number> {
  const { user_id } = await owner.result('GET', '/user')
  const [row] = await database.query<{ id: number }>(
    `insert into incident (user_id, rule, subject, state, affected, opened_at)
     values ($1, 'account_out', 'network', 'open', 1, now()) returning id`,
    [user_id],
  )
  return row?.id ?? 0
}

const { session_id: flow } = await owner.result('POST', '/platforms/sandbox/link/start', {
  phone: (await owner.person('Linking')).phone,
})
const [session] = (await owner.result('GET', '/user/sessions')).items
const { token_id } = await owner.result('POST', '/user/tokens', { name: 'x', scopes: ['read'] })
const { view_id } = await owner.result('POST', '/user/views', { name: 'All', query: {} })
const { action_id } = await owner.result('POST', '/platforms/credentials/actions', {
  kind: 'restart',
  credential_ids: [credentialId],
})
const { share_id } = await owner.result('POST', `/platforms/credentials/${credentialId}/shares`, {
  phone,
  role: 'developer',
})

const NO_FLOW = 'a'.repeat(22)
const NONE = '987654321'

/** Where a path begins so, what the owner has in the first place of its pattern, and what nobody has. */
const records: readonly (readonly [begins: string, theirs: unknown, missing: string])[] = [
  ['/platforms/{platform}/link/{session_id}', flow, NO_FLOW],
  ['/user/sessions/{id}', session.session_id, NONE],
  ['/user/tokens/{id}', token_id, NONE],
  ['/user/views/{id}', view_id, NONE],
  ['/platforms/credentials/actions/{id}', action_id, NONE],
  ['/shares/{id}', share_id, NONE],
  ['/alerts/{id}', await incident(), NONE],
]

/** For the staff and operators alone, whatever there is. */
const ofStaff = /^\/(users|operators|nodes)\//
/** Whose path is a secret, or names nothing of a user. */
const ofAnybody =
  /^\/(link-pages|machines|sandbox|bot|file)\b|^\/platforms\/\{platform\}\/link\/(start|verify)$/

const bodies: Readonly<Record<string, object>> = {
  'POST /users/{id}/suspend': { reason: 'x' },
  'POST /alerts/{id}/silence': { minutes: 5 },
}

const { paths } = (await owner.ask('GET', '/openapi.json')).body
const routes = Object.entries<object>(paths).flatMap(([pattern, verbs]) =>
  Object.keys(verbs).map((verb) => ({
    pattern,
    verb: verb.toUpperCase(),
    name: `${verb.toUpperCase()} ${pattern}`,
  })),
)
const named = routes.filter(
  ({ pattern, name }) =>
    pattern.includes('{') &&
    !ofAnybody.test(pattern) &&
    !(name.replaceAll(/\{(\w+)\}/g, ':$1') in accessRules),
)

const ask = async (verb: string, pattern: string, id: unknown) => {
  const path = pattern.replace('{platform}', 'sandbox').replaceAll(/\{\w+\}/g, `${id}`)
  const { status, body } = await stranger.ask(verb, path, bodies[`${verb} ${pattern}`])
  return { status, body }
}

t.test('a record of another user is answered like none', async (t) => {
  t.ok(named.length > 20, `${named.length} routes`)
  for (const { verb, pattern, name } of named) {
    if (ofStaff.test(pattern)) {
      const { status } = await ask(verb, pattern, 1)
      t.ok(status === 403 || status === 404, `${name}: ${status}`)
      continue
    }
    const [, theirs, missing] = records.find(([begins]) => pattern.startsWith(begins)) ?? []
    if (missing === undefined) {
      t.fail(`${name} is in no list: whose records does it name?`)
      continue
    }
    const found = await ask(verb, pattern, theirs)
    t.strictSame(found, await ask(verb, pattern, missing), name)
    t.equal(found.status, 404, name)
  }
})

t.test('nothing of it was changed', async (t) => {
  t.match(await owner.result('GET', `/platforms/sandbox/link/${flow}`), { session_id: flow })
  t.match(await owner.result('GET', '/user/sessions'), { items: [session] })
  t.match(await owner.result('GET', '/user/tokens'), { items: [{ token_id }] })
  t.match(await owner.result('GET', '/user/views'), [{ view_id }])
  const path = `/platforms/credentials/${credentialId}/shares`
  t.match(await owner.result('GET', path), { items: [{ share_id }] })
  t.match(await owner.result('GET', '/shares'), { items: { length: 0 } })
  const invited = await service.client(phone)
  t.match(await invited.result('GET', '/shares'), { items: [{ share_id }] })
})
