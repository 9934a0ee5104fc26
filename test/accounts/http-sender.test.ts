/** The HTTP sender: what it sends, and how it takes what a provider may answer. */
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { httpSender } from '../../src/accounts/senders/create.ts'
import type { HttpOptions } from '../../src/accounts/senders/sender.ts'
import { kavenegar, twilio } from '../../src/config/sender.ts'
import { PermanentFailure } from '../../src/jobs/jobs.ts'
import { until } from '../support/client.ts'
import { flood } from '../support/flood.ts'

const message = {
  id: 'c1',
  phone: '+989121234567',
  code: '123456',
  text: 'Code "123456"\n@site #123456 ✓',
}

interface Got {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

async function provider(t: Test, answer: (reply: ServerResponse, url: string) => void) {
  const got: Got[] = []
  const server = createServer(async (request, reply) => {
    const { method, url, headers } = request
    got.push({ method, url, headers, body: await readText(request) })
    answer(reply, url ?? '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const senderFor = (options: Partial<HttpOptions> = {}) => {
    const sender = httpSender({ url: `${url}/send`, ...options })
    t.teardown(() => sender.close())
    return sender
  }
  const send = (options?: Partial<HttpOptions>, limit = 5_000) =>
    senderFor(options).send(message, AbortSignal.timeout(limit))
  return { url, got, send }
}

const ok = (reply: ServerResponse) => void reply.end('{"status":"ok"}')

t.test('the templates are filled in, escaped as each place needs it', async (t) => {
  const { got, url, send } = await provider(t, ok)
  await send({
    url: `${url}/send?to={phone}&n={digits}&m={text}`,
    headers: { 'Content-Type': 'application/json', 'X-Code': '{code}' },
    body: '{"to":"{phone}","text":"{text}","other":"{unknown}"}',
  })
  const [request] = got
  t.match(request, { method: 'POST', headers: { 'x-code': /^123456$/ } })
  const query = new URL(request!.url!, url).searchParams
  t.equal(query.get('to'), message.phone)
  t.equal(query.get('n'), '989121234567')
  t.equal(query.get('m'), message.text)
  t.same(JSON.parse(request!.body), { to: message.phone, text: message.text, other: '{unknown}' })

  await send({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'to={phone}&text={text}',
  })
  const form = new URLSearchParams(got[1]!.body)
  t.same(
    [...form],
    [
      ['to', message.phone],
      ['text', message.text],
    ],
  )

  await send({ headers: { 'content-type': 'text/plain' }, body: '{text}' })
  t.equal(got[2]!.body, message.text)
  await send({ method: 'GET' })
  t.match(got[3], { method: 'GET', body: '' })
})

t.test('the presets ask as their providers want it', async (t) => {
  const { got, url, send } = await provider(t, ok)
  const here = (options: HttpOptions) => ({
    ...options,
    url: options.url.replace(/^https:\/\/[^/]+/, url),
  })
  await send(here(kavenegar({ apiKey: 'key', template: 'sign in' })))
  t.equal(got[0]!.url, '/v1/key/verify/lookup.json')
  t.same(
    [...new URLSearchParams(got[0]!.body)],
    [
      ['receptor', message.phone],
      ['token', message.code],
      ['template', 'sign in'],
    ],
  )
  await send(here(twilio({ account: 'AC1', token: 'secret', from: '+15005550006' })))
  t.equal(got[1]!.url, '/2010-04-01/Accounts/AC1/Messages.json')
  t.equal(got[1]!.headers.authorization, `Basic ${btoa('AC1:secret')}`)
  t.same(
    [...new URLSearchParams(got[1]!.body)],
    [
      ['To', message.phone],
      ['From', '+15005550006'],
      ['Body', message.text],
    ],
  )
})

t.test('a failure may pass, a refusal will not', async (t) => {
  let status = 0
  const { send } = await provider(t, (reply) => void reply.writeHead(status).end('no'))
  for (status of [500, 502, 503, 429, 408]) {
    const error = await send().catch((error) => error)
    t.equal(error.message, `the SMS provider answered ${status}`)
    t.notOk(error instanceof PermanentFailure, `${status}`)
  }
  for (status of [400, 401, 403, 404, 422]) {
    t.type(await send().catch((error) => error), PermanentFailure, `${status}`)
  }
  for (status of [200, 201, 202, 204]) await send()
})

t.test('a redirect is not followed', async (t) => {
  const { got, send } = await provider(
    t,
    (reply) => void reply.writeHead(307, { location: '/other' }).end(),
  )
  t.type(await send().catch((error) => error), PermanentFailure)
  t.equal(got.length, 1)
})

t.test('a provider that hangs, drips or never ends is left', async (t) => {
  let isOpen = true
  const { send, url } = await provider(t, (reply, url) => {
    isOpen = true
    reply.once('close', () => {
      isOpen = false
    })
    if (url === '/drip') {
      reply.writeHead(200)
      const drip = setInterval(() => reply.write('.'), 20)
      reply.once('close', () => clearInterval(drip))
    }
    if (url === '/flood') {
      reply.writeHead(200)
      const pour = () => {
        while (!reply.destroyed && reply.write('x'.repeat(10_000)));
      }
      reply.on('drain', pour)
      pour()
    }
    if (url === '/cut') {
      reply.writeHead(200, { 'content-length': 100 })
      reply.write('"status":"ok"', () => reply.destroy())
    }
  })
  await t.rejects(send({ url: `${url}/hang` }, 200), { message: /did not answer/ })
  for (const path of ['/drip', '/flood', '/cut']) {
    // It has said yes, so the message is on its way: another try would be another message.
    await send({ url: url + path }, 1_000)
    await until(() => !isOpen)
  }
  await send({ url: `${url}/cut`, expect: '"status":"ok"' })
  for (const path of ['/drip', '/flood']) {
    const confirmed = send({ url: url + path, expect: 'ok' }, 1_000)
    await t.rejects(confirmed, { message: /did not confirm/ }, path)
  }
})

t.test('an interim answer that nobody asked for is no failure, and no other message', async (t) => {
  const { send, got } = await provider(t, (reply) => {
    reply.writeContinue()
    ok(reply)
  })
  await send({ expect: '"status":"ok"' })
  t.equal(got.length, 1)
})

t.test(
  'what comes behind a yes without end, and brings nothing, ends the connection',
  async (t) => {
    let written = () => 0
    const { send } = await provider(t, ({ socket }) => {
      const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;'
      if (socket) written = flood(socket, head, Buffer.alloc(65_536, '0'))
    })
    await send({}, 20_000)
    t.ok(written() > 0 && written() < 20_000_000, `${written()} bytes were written`)
  },
)

t.test('an answer without the expected words is a failure', async (t) => {
  const { send } = await provider(t, ok)
  await send({ expect: '"status":"ok"' })
  await t.rejects(send({ expect: '"status":"sent"' }), { message: /did not confirm/ })
})

t.test('the error tells why the name of the provider does not resolve', async (t) => {
  const { send } = await provider(t, ok)
  const silence = async () => {
    throw Object.assign(new Error('no server answers'), { code: 'ETIMEOUT' })
  }
  t.intercept(Resolver.prototype, 'resolve4', { value: silence })
  t.intercept(Resolver.prototype, 'resolve6', { value: silence })
  // The system looks up one such name at a time.
  const both = [1, 2].map(() => send({ url: 'http://nowhere.invalid/' }, 20_000))
  const reasons = (await Promise.allSettled(both)).map((each) =>
    each.status === 'rejected' ? each.reason.message : 'sent',
  )
  t.ok(reasons.includes('the SMS provider did not answer: ETIMEOUT'), `${reasons}`)
})

t.test('no error tells the key in the address', async (t) => {
  const { url } = await provider(t, ok)
  const closed = httpSender({ url: `http://127.0.0.1:1/secret-key/send` })
  t.teardown(() => closed.close())
  const error = await closed.send(message, AbortSignal.timeout(5_000)).catch((error) => error)
  t.match(error.message, /did not answer: ECONNREFUSED/)
  t.notOk(JSON.stringify([error.message, error.stack, url]).includes('secret-key'))
})
