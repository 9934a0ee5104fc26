/** Each statement of a request fails in turn, as it does while the database is away: nobody is told anything that lasts. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { type Answer, ask } from '../support/client.ts'
import { scene } from './scene.ts'

const { service, client, ada, bot, credentialId, key, keyId } = await scene(t, {
  env: { OTP_RESEND_DELAYS: '0', WRONG_KEYS_PER_MINUTE: '1000000' },
})

/** As pg says it when the server is stopped: it has undone the statement. */
const stopped = () =>
  Object.assign(new pg.DatabaseError('terminating connection', 0, 'error'), { code: '57P01' })

const heard = new Set<string>()
/** Which statements fail. */
let fails: (text: string) => boolean = () => false

/** Without the values that MikroORM writes into it. */
const formOf = (text: string) =>
  text.replace(/E?'(?:[^'\\]|''|\\.)*'/g, "''").replace(/(?<![$\w"])\d+\b/g, '0')

type Done = (error: Error) => void
const query = pg.Client.prototype.query
pg.Client.prototype.query = function failing(this: pg.Client, ...given: unknown[]) {
  const [asked] = given
  const text = formOf(typeof asked === 'string' ? asked : (asked as { text: string }).text)
  heard.add(text)
  if (!fails(text)) return Reflect.apply(query, this, given)
  const done = given.at(-1)
  if (typeof done !== 'function') return Promise.reject(stopped())
  return void process.nextTick(done as Done, stopped())
} as typeof query
t.teardown(() => {
  pg.Client.prototype.query = query
})

interface Flow {
  readonly name: string
  /** Makes what the request needs, and gives the request, to be repeated with the same values. */
  begin(): Promise<() => Promise<Answer>>
  /** What it needs takes long to make: no statement fails alone. */
  readonly isCostly?: true
  /** How many things there are of the kind that the request makes. */
  count?(): Promise<number>
}

const isRollback = (text: string) => /^rollback/i.test(text)
const brief = (text: string) => text.trim().replace(/\s+/g, ' ').slice(0, 90)

const isDone = ({ status }: Answer) => status >= 200 && status < 300
/** It says when to ask again. */
const isPassing = ({ status, headers, body }: Answer) =>
  status === 503 && headers.get('retry-after') === `${body.parameters?.retry_after}`
const isUnconfirmed = ({ status, body }: Answer) =>
  status === 504 && body.code === 'write_unconfirmed'

async function attempt(flow: Flow, first: string, lasts: boolean): Promise<string | undefined> {
  const request = await flow.begin()
  const before = await flow.count?.()
  let hasFailed = false
  fails = (text) => {
    if (hasFailed) return lasts && !isRollback(text)
    hasFailed = text === first
    return hasFailed
  }
  const answer = await request()
  fails = () => false
  const told = `${answer.status} ${JSON.stringify(answer.body)}`
  if (isDone(answer) || isUnconfirmed(answer)) return undefined
  if (!isPassing(answer)) return told
  if (flow.count && (await flow.count()) !== before) return `${told} though it was made`
  const { status: again } = await request()
  // A rate passes as well.
  return again >= 300 && again !== 429 ? `${told}, and ${again} the second time` : undefined
}

/** What the service asks by itself. */
const usual = new Set<string>()
t.before(async () => {
  heard.clear()
  await pause(1_500)
  for (const text of heard) if (!/^(begin|commit)$/i.test(text)) usual.add(text)
})

const problems: string[] = []
let runs = 0
async function sweep(flow: Flow): Promise<void> {
  const request = await flow.begin()
  heard.clear()
  const answer = await request()
  if (!isDone(answer)) problems.push(`${answer.status} though nothing failed`)
  const texts = [...heard].filter((text) => !isRollback(text) && !usual.has(text))
  for (const text of texts) {
    for (const lasts of flow.isCostly ? [true] : [false, true]) {
      runs += 1
      const problem = await attempt(flow, text, lasts)
      if (problem) problems.push(`${problem}: ${lasts ? 'from' : 'only'} ${brief(text)}`)
    }
  }
}

let numbers = 0
const phone = () => `+1415777${String(++numbers).padStart(4, '0')}`
const at = service.url
const by = (path: string, body: object) => () => ask(at, 'POST', path, body)
const own = (method: string, path: string, body?: unknown) => () => client.ask(method, path, body)
const always = (name: string, request: () => Promise<Answer>): Flow => ({
  name,
  begin: async () => request,
})
const countOf = (path: string) => async () => (await client.result('GET', path)).items.length
const keysOfAccount = countOf('/api_keys?limit=1000')

/** Keys of one account are limited in number. */
let spare: { id: number; key: string }[] = []
async function newKey(): Promise<{ id: number; key: string }> {
  if (spare.length > 50) {
    for (const { id } of spare) await client.ask('DELETE', `/api_keys/${id}`)
    spare = []
  }
  const made = await client.key(credentialId)
  const one = { id: made.api_key_id, key: made.key }
  spare.push(one)
  return one
}
const ofNewKey = (
  name: string,
  request: (made: { id: number; key: string }) => Promise<Answer>,
) => ({
  name,
  async begin() {
    const made = await newKey()
    return () => request(made)
  },
})
const hook = { url: 'http://127.0.0.1:9/hook' }
const account = `/platforms/credentials/${credentialId}`
const start = '/platforms/sandbox/link/start'

const flows: Flow[] = [
  { name: 'a code', begin: async () => by('/auth/sendOtp', { phone: phone() }) },
  {
    name: 'a sign-in',
    isCostly: true,
    async begin() {
      const number = phone()
      await ask(at, 'POST', '/auth/sendOtp', { phone: number })
      return by('/auth/login', { phone: number, otp: await service.code(number) })
    },
  },
  {
    name: 'staying signed in',
    isCostly: true,
    async begin() {
      const { refreshToken } = await service.client(phone())
      return by('/auth/refresh', { refresh_token: refreshToken })
    },
  },
  {
    name: 'signing out',
    async begin() {
      const { refreshToken } = await service.client(phone())
      return by('/auth/logout', { refresh_token: refreshToken })
    },
  },
  {
    name: 'the start of a link',
    async begin() {
      const person = await client.person('Link', `linked_${++numbers}`)
      return own('POST', start, { phone: person.phone })
    },
    count: countOf('/platforms/links?limit=1000'),
  },
  {
    name: 'the code of a link',
    isCostly: true,
    async begin() {
      const person = await client.person('Link', `linked_${++numbers}`)
      const { session_id } = await client.result('POST', start, { phone: person.phone })
      const otp = await client.code(person.id)
      return own('POST', '/platforms/sandbox/link/verify', { session_id, otp })
    },
  },
  {
    name: 'a new key',
    begin: async () => {
      await newKey()
      return own('POST', '/api_keys', {
        name: 'k',
        credential_id: credentialId,
        scopes: ['bot:send'],
      })
    },
    count: keysOfAccount,
  },
  ofNewKey('the first call of a key', (made) => client.bot(made.key, 'getMe')),
  ofNewKey('the first poll of a key', (made) => client.bot(made.key, 'getUpdates')),
  ofNewKey('a new secret', ({ id }) => client.ask('POST', `/api_keys/${id}/rotate`, {})),
  ofNewKey('a new name', ({ id }) => client.ask('PATCH', `/api_keys/${id}`, { name: 'b' })),
  {
    name: 'the end of a key',
    async begin() {
      const { id, key } = await newKey()
      await client.bot(key, 'getMe')
      return own('DELETE', `/api_keys/${id}`)
    },
  },
  always('getMe', () => client.bot(key, 'getMe')),
  always('sendMessage', () => client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'hi' })),
  always('getChat', () => client.bot(key, 'getChat', { chat_id: ada.id })),
  {
    name: 'getUpdates',
    async begin() {
      await client.write(ada.id, '@gatebot', 'hi')
      const { body } = await client.bot(key, 'getUpdates', { timeout: 10 })
      const offset = body.result.at(-1).update_id + 1
      return () => client.bot(key, 'getUpdates', { offset })
    },
  },
  ofNewKey('setWebhook', (made) => client.bot(made.key, 'setWebhook', hook)),
  {
    name: 'deleteWebhook',
    async begin() {
      const made = await newKey()
      await client.bot(made.key, 'setWebhook', hook)
      return () => client.bot(made.key, 'deleteWebhook')
    },
  },
  always('getWebhookInfo', () => client.bot(key, 'getWebhookInfo')),
  always('accounts', own('GET', '/platforms/credentials')),
  always('an account', own('GET', account)),
  always('its states', own('GET', `${account}/transitions`)),
  always('its restart', own('POST', `${account}/restart`)),
  always('a diagnosis', own('POST', `/api_keys/${keyId}/diagnosis`, {})),
  always('keys', own('GET', '/api_keys')),
  always('a key', own('GET', `/api_keys/${keyId}`)),
  always('the user', own('GET', '/user')),
  always('sign-ins', own('GET', '/user/sessions')),
  always('tokens', own('GET', '/user/tokens')),
  {
    ...always('a new token', own('POST', '/user/tokens', { name: 'script' })),
    count: countOf('/user/tokens'),
  },
  {
    ...always('a new person', own('POST', '/sandbox/people', { first_name: 'New' })),
    count: countOf('/sandbox/people?limit=1000'),
  },
  always(
    'a message of a person',
    own('POST', `/sandbox/people/${ada.id}/messages`, { to: bot.id, text: 'hi' }),
  ),
]

for (const flow of flows) {
  t.test(flow.name, async (t) => {
    problems.length = 0
    await sweep(flow)
    t.same(problems, [])
  })
}

t.test('the account is as it was', async (t) => {
  await client.state(credentialId, 'active')
  t.ok(runs > 150, `${runs} runs`)
})
