/** What the libraries' judge says of answers and updates in the reference's shape, and in others. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { RecordingProxy } from './recording-proxy.ts'

const chat = { id: 7, type: 'private', first_name: 'Ada' }
const message = { message_id: 1, date: 1, chat, text: 'hi' }
const update = { update_id: 1, message }

/** A service, or the webhook of a library, that answers everything with this. */
async function answering(t: Test, body: unknown): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('Content-Encoding', 'gzip')
    response.end(gzipSync(JSON.stringify(body)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function proxyFor(t: Test) {
  const proxy = new RecordingProxy()
  t.teardown(() => proxy.close())
  return proxy
}

async function judging(t: Test, method: string, result: unknown) {
  const proxy = proxyFor(t)
  const address = await proxy.inFrontOfService(await answering(t, { ok: true, result }))
  const answer = await fetch(`${address}/bot1:key/${method}`)
  t.strictSame(await answer.json(), { ok: true, result }, 'the library gets it all the same')
  return proxy
}

t.test('the shapes of the reference pass', async (t) => {
  const proxy = await judging(t, 'sendMessage', message)
  proxy.judge(false)
  t.throws(() => proxy.judge(true), /no update passed/)
  ;(await judging(t, 'getUpdates?timeout=1', [update])).judge(true)
})

t.test('another shape of an answer is named', async (t) => {
  const proxy = await judging(t, 'sendMessage', { ...message, colour: 'red' })
  t.throws(() => proxy.judge(false), /sendMessage\.colour is not known in Message/)
})

t.test('another shape of an update is named, polled and sent', async (t) => {
  const odd = { ...update, message: { ...message, date: 'today' } }
  const polled = await judging(t, 'getUpdates', [odd])
  t.throws(() => polled.judge(true), /date is "today", not number/)

  const proxy = proxyFor(t)
  const hook = await proxy.inFrontOfWebhook(await answering(t, {}))
  await fetch(`${hook}/hook`, { method: 'POST', body: JSON.stringify(odd) })
  t.throws(() => proxy.judge(true), /date is "today", not number/)
})

t.test('nothing is said to be right that was not seen', async (t) => {
  t.throws(() => proxyFor(t).judge(false), /no answer passed/)
})

t.test('a service that is away breaks the connection off', async (t) => {
  const address = await proxyFor(t).inFrontOfService('http://127.0.0.1:1')
  await t.rejects(fetch(`${address}/bot1:key/getMe`), /fetch failed/)
})
