/** Each statement of a request fails in turn, as it does while the database is away: nobody is told anything that lasts. */
import t from 'tap'
import { type Answer, ask } from '../support/client.ts'
import { FailingStatements, type Flow } from '../support/failing-statements.ts'
import { scene } from './scene.ts'

const { service, client, ada, bot, credentialId, key, keyId } = await scene(t, {
  env: { OTP_RESEND_DELAYS: '0', WRONG_KEYS_PER_MINUTE: '1000000' },
})
const statements = new FailingStatements(t)

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
  t.test(flow.name, async (t) => t.same(await statements.sweep(flow), []))
}

t.test('the account is as it was', async (t) => {
  await client.state(credentialId, 'active')
  t.ok(statements.runs > 150, `${statements.runs} runs`)
})
