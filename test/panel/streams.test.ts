/** Streams of events last no longer than the sign-in or the token that opened them. */
import t, { type Test } from 'tap'
import { ask, until } from '../support/client.ts'
import { startService } from '../support/service.ts'

const service = await startService(t)
const phone = '+14155559401'
const client = await service.client(phone)

/** Once more with the same phone: codes are not sent faster than a person asks for them. */
async function signIn() {
  await until(async () => (await post('/auth/sendOtp', { phone })).status === 200)
  const { body } = await post('/auth/login', { phone, otp: await service.code(phone) })
  const authorization = `Bearer ${body.result.access_token}`
  return {
    authorization,
    refresh_token: body.result.refresh_token,
    ask: (path: string) => ask(service.url, 'GET', path, undefined, { authorization }),
  }
}
const post = (path: string, body: object) => ask(service.url, 'POST', path, body)
const credentialId = await client.link(await client.person('Bot', 'streamed_bot'))
const paths = ['/platforms/credentials/events', `/platforms/credentials/${credentialId}/events`]

async function open(t: Test, path: string, authorization: string) {
  const gone = new AbortController()
  t.teardown(() => gone.abort())
  const { signal } = gone
  const response = await fetch(`${service.url}${path}`, { headers: { authorization }, signal })
  const reader = response.body!.getReader()
  const { done } = await reader.read()
  t.equal(done, false, 'it begins with the state')
  return {
    /** Resolves once the service has ended it. */
    async end() {
      while (!(await reader.read()).done);
    },
  }
}

t.test('signing out ends the streams of that sign-in, and no others', async (t) => {
  const other = await signIn()
  const ended = await Promise.all(paths.map((path) => open(t, path, other.authorization)))
  const kept = await open(t, paths[0]!, `Bearer ${client.token}`)
  let isOver = false
  kept.end().then(
    () => {
      isOver = true
    },
    () => undefined,
  )
  await post('/auth/logout', { refresh_token: other.refresh_token })
  await Promise.all(ended.map((stream) => stream.end()))
  t.equal(isOver, false)
  t.match(await other.ask('/user'), { status: 401 })
  t.match(await client.ask('GET', '/user'), { status: 200 })
})

t.test('so does ending the session from elsewhere', async (t) => {
  const stolen = await signIn()
  const stream = await open(t, paths[1]!, stolen.authorization)
  const { body } = await stolen.ask('/user/sessions')
  const current = body.result.items.find((one: { current: boolean }) => one.current)
  await client.result('DELETE', `/user/sessions/${current.session_id}`)
  await stream.end()
  t.match(await stolen.ask(paths[1]!), { status: 401 })
})

t.test('and revoking the token that a script reads with', async (t) => {
  const { token, token_id } = await client.result('POST', '/user/tokens', { name: 'watcher' })
  const stream = await open(t, paths[0]!, `apikey ${token}`)
  await client.result('DELETE', `/user/tokens/${token_id}`)
  await stream.end()
})
