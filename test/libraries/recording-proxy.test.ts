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
  t.throws(() => polled.judge(true), /date is "today", not integer/)

  const proxy = proxyFor(t)
  const hook = await proxy.inFrontOfWebhook(await answering(t, {}))
  await fetch(`${hook}/hook`, { method: 'POST', body: JSON.stringify(odd) })
  t.throws(() => proxy.judge(true), /date is "today", not integer/)
})

t.test('nothing is said to be right that was not seen', async (t) => {
  t.throws(() => proxyFor(t).judge(false), /no answer passed/)
})

t.test('a service that is away breaks the connection off', async (t) => {
  const address = await proxyFor(t).inFrontOfService('http://127.0.0.1:1')
  await t.rejects(fetch(`${address}/bot1:key/getMe`), /fetch failed/)
})

t.test('an update that is handed over once more after it was confirmed is counted', async (t) => {
  const proxy = proxyFor(t)
  const address = await proxy.inFrontOfService(await answering(t, { ok: true, result: [update] }))
  const poll = async (offset: number) => {
    const body = JSON.stringify({ offset })
    await (await fetch(`${address}/bot1:key/getUpdates`, { method: 'POST', body })).text()
  }
  await poll(0)
  await poll(1)
  t.strictSame(proxy.passages.doubled, [], 'it was not confirmed yet')
  await poll(2)
  t.equal(proxy.passages.doubled.length, 1)

  const hook = await proxy.inFrontOfWebhook(await answering(t, {}))
  const other = { update_id: 8, message: { ...message, message_id: 2 } }
  const post = async (body: object) => {
    const answer = await fetch(`${hook}/hook`, { method: 'POST', body: JSON.stringify(body) })
    await answer.text()
  }
  await post(other)
  t.equal(proxy.passages.doubled.length, 1)
  await post({ ...other, update_id: 9 })
  t.equal(proxy.passages.doubled.length, 2, 'under another id')
})

t.test('a send is counted in any encoding, and its answer can be lost', async (t) => {
  const proxy = proxyFor(t)
  const address = await proxy.inFrontOfService(await answering(t, { ok: true, result: message }))
  const send = (method: string, body: string | URLSearchParams | FormData) =>
    fetch(`${address}/bot1:key/${method}`, { method: 'POST', body }).then((answer) => answer.text())
  const text = 'Kettle 1: boils'
  await send('sendMessage', JSON.stringify({ text: 'Kettle <b>1</b>\nboils' }))
  await send('sendMessage', new URLSearchParams({ text }))
  const form = new FormData()
  form.set('text', text)
  await send('sendMessage', form)
  await send(`sendMessage?${new URLSearchParams({ text })}`, '')
  await send('sendMessageDraft', JSON.stringify({ text }))
  await send('sendMessage', JSON.stringify({ text: 'Kettle 12' }))
  t.strictSame(proxy.passages.count('Kettle 1'), { asked: 4, told: 4 })

  proxy.passages.loseAnswer('Kettle 12')
  await t.rejects(send('sendMessage', JSON.stringify({ text: 'Kettle 12' })))
  t.strictSame(proxy.passages.count('Kettle 12'), { asked: 2, told: 1 })
  await send('sendMessage', JSON.stringify({ text: 'Kettle 12' }))
  t.strictSame(proxy.passages.count('Kettle 12'), { asked: 3, told: 2 }, 'only one gets lost')
})

t.test('what was asked of a service that is away is counted', async (t) => {
  const proxy = proxyFor(t)
  const address = await proxy.inFrontOfService('http://127.0.0.1:1')
  const body = JSON.stringify({ text: 'Kettle 1' })
  await t.rejects(fetch(`${address}/bot1:key/sendMessage`, { method: 'POST', body }))
  t.strictSame(proxy.passages.count('Kettle 1'), { asked: 1, told: 0 })
})
