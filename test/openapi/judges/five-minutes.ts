/** The five minutes of the README by a client whose types were generated from the document. Reads one-time codes from its input. */
import { createInterface } from 'node:readline'
import createClient from 'openapi-fetch'
import type { paths } from './api.d.ts'

const [baseUrl = '', phone = '', username = ''] = process.argv.slice(2)
const codes = createInterface(process.stdin)[Symbol.asyncIterator]()
const client = createClient<paths>({ baseUrl })

interface Answer<Result> {
  readonly data?: { readonly ok: boolean; readonly result: Result } | undefined
  readonly error?: { readonly error_code: number; readonly description: string } | undefined
}

async function resultOf<Result>(asked: Promise<Answer<Result>>): Promise<Result> {
  const { data, error } = await asked
  if (!data) throw new Error(error?.description)
  return data.result
}

const { challenge_id } = await resultOf(client.POST('/auth/sendOtp', { body: { phone } }))
const otp = (await codes.next()).value ?? ''
const signedIn = await resultOf(client.POST('/auth/login', { body: { phone, otp, challenge_id } }))
client.use({
  onRequest: ({ request }) =>
    request.headers.set('authorization', `${signedIn.token_type} ${signedIn.access_token}`),
})

const person = (first_name: string, ending: string) =>
  resultOf(
    client.POST('/sandbox/people', {
      body: { first_name, phone: `${phone.slice(0, -1)}${ending}`, username: username + ending },
    }),
  )
const echo = await person('Echo', '1')
const ada = await person('Ada', '2')
const inboxOf = ({ id }: { readonly id: number }) =>
  resultOf(client.GET('/sandbox/people/{person}/inbox', { params: { path: { person: id } } }))

const platform = { path: { platform: 'sandbox' } }
const { session_id } = await resultOf(
  client.POST('/platforms/{platform}/link/start', {
    params: platform,
    body: { phone: echo.phone },
  }),
)
const code = (await inboxOf(echo)).codes.at(-1)?.code ?? ''
const { credential } = await resultOf(
  client.POST('/platforms/{platform}/link/verify', {
    params: platform,
    body: { session_id, otp: code },
  }),
)
const credential_id = credential?.credential_id ?? 0
for (let state = ''; state !== 'active'; ) {
  const one = { params: { path: { credential_id } } }
  state = (await resultOf(client.GET('/platforms/credentials/{credential_id}', one))).state
}
const { items: accounts } = await resultOf(client.GET('/platforms/credentials'))

const key = await resultOf(
  client.POST('/api_keys', {
    body: { name: 'echo', credential_id, scopes: ['bot:send', 'bot:receive'] },
  }),
)
const params = { path: { api_key: key.key } }
const me = await resultOf(client.POST('/bot{api_key}/getMe', { params }))
const sent = await resultOf(
  client.POST('/bot{api_key}/sendMessage', { params, body: { chat_id: ada.id, text: 'Hello!' } }),
)
const { messages } = await inboxOf(ada)
const refused = await client.POST('/bot{api_key}/sendMessage', {
  params,
  body: { chat_id: '@nobody_is_here', text: 'Hello!' },
})

/** The log and the usage are written a moment late. */
async function once<Value>(read: () => Promise<Value>, isThere: (value: Value) => boolean) {
  for (;;) {
    const value = await read()
    if (isThere(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
const query = { api_key_id: key.api_key_id }
const usage = await once(
  () => resultOf(client.GET('/user/usage', { params: { query } })),
  ({ totals }) => totals.bot_requests === 3,
)
const log = await once(
  () => resultOf(client.GET('/user/logs/api-requests', { params: { query } })),
  ({ items }) => items.length === 3,
)
process.stdout.write(
  JSON.stringify({
    accounts: accounts.map(({ state }) => state),
    me,
    sent,
    received: messages.map(({ text }) => text),
    refusal: refused.error?.description,
    errors: usage.totals.errors_by_code,
    log: log.items.map(({ method, status }) => `${method} ${status}`),
  }),
)
process.exit(0)
