/** A service that goes down ends what it holds, and lets its connections go. */
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { startService } from '../support/service.ts'
import { raw, troubledAccount } from './scene.ts'

const service = await startService(t)
const { fault, key, ada } = await troubledAccount(service, 'lastbot')
const agent = new Agent({ keepAlive: true })
t.teardown(() => agent.destroy())

/** Resolves once the service has the request; `answer` comes when it comes. */
async function asked(path: string) {
  const headers = { expect: '100-continue' }
  const sent = request(`${service.url}/bot${key}/${path}`, { agent, method: 'POST', headers })
  const answer = once(sent, 'response').then(async ([response]: IncomingMessage[]) => {
    const text = Buffer.concat((await response?.toArray()) ?? []).toString()
    const { statusCode: status, headers } = response ?? {}
    return { status, connection: headers?.connection, body: JSON.parse(text) }
  })
  sent.flushHeaders()
  await once(sent, 'continue')
  sent.end()
  return { answer }
}

t.test('held polls and running calls are answered, then the connections end', async (t) => {
  const idle = connect(Number(new URL(service.url).port), '127.0.0.1')
  await once(idle, 'connect')
  const idleEnds = once(idle, 'close')
  t.match(await (await asked('getMe')).answer, { status: 200, connection: 'keep-alive' })
  await fault('delay', { milliseconds: 500 })
  const { answer: poll } = await asked('getUpdates?timeout=50')
  const { answer: send } = await asked(`sendMessage?chat_id=${ada.id}&text=bye`)
  const stopped = service.gateway.stop()
  const empty = { ok: true, result: [] }
  t.match(await poll, { status: 200, connection: 'close', body: empty })
  t.match(await send, { status: 200, connection: 'close', body: { result: { text: 'bye' } } })
  await stopped
  await idleEnds
  await t.rejects(raw(service.url, '/health/live'), { code: 'ECONNREFUSED' })
})
