/** Keys that crash: they rest, say so in their record, and go on where they were. */
import t from 'tap'
import { until } from '../support/client.ts'
import { scene } from './scene.ts'

const fatal: unknown[] = []
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (cause: unknown) => fatal.push(cause))
}

t.test('a key that crashed rests, shows it, and loses nothing', async (t) => {
  const { service, client, ada, key, keyId } = await scene(t, {})
  const { keys } = service.gateway.core
  const record = () => client.result('GET', `/api_keys/${keyId}`)
  const crash = async () => {
    await until(async () => (await client.bot(key, 'getMe')).status === 200)
    const boom = () => {
      throw new Error('boom')
    }
    const actor = keys.peek(keyId)
    actor?.tell(Object.defineProperty({ type: 'call.admit' }, 'now', { get: boom }) as never)
    await actor?.closed
  }
  const held = client.bot(key, 'getUpdates', { timeout: 20 })
  await until(() => keys.peek(keyId)?.snapshot.context.waiting !== undefined)
  await crash()
  t.match(await held, { status: 503, body: { parameters: { retry_after: 1 } } })
  t.match(await record(), { state: 'crashed' })
  t.match(await client.bot(key, 'getMe'), {
    status: 503,
    body: {
      description: 'Service Unavailable: the key is restarting after a crash',
      parameters: { retry_after: 1 },
    },
  })
  await client.write(ada.id, '@gatebot', 'while it was down')
  await until(async () => (await record()).state === 'usable.quiet')
  const { body } = await client.bot(key, 'getUpdates', { timeout: 10 })
  t.match(body.result, [{ message: { text: 'while it was down' } }])
  t.match((await record()).state, /^usable/)
})

t.test('nothing of it reached the process', async (t) => t.same(fatal, []))
