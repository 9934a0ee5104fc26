/** Requests to users' addresses: time, size, redirects. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { beginningOf, openUrl, parseUrl, UrlRefused } from '../../src/net/fetch.ts'
import { createGuardedAgent } from '../../src/net/guard.ts'
import { fetchBeginning } from './fetch-beginning.ts'

const agent = createGuardedAgent({ allowPrivate: true })
t.teardown(() => agent.destroy())

async function serve(
  t: { teardown(work: () => void): void },
  listener: RequestListener,
): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('an answer comes with its status, headers and body', async (t) => {
  const url = await serve(t, (request, response) => {
    response.setHeader('x-seen', String(request.headers['x-given']))
    response.writeHead(404).end('nothing')
  })
  const answer = await fetchBeginning(url, {
    agent,
    totalMs: 2_000,
    maxBytes: 100,
    headers: { 'x-given': 'yes' },
  })
  t.match(answer, { status: 404, headers: { 'x-seen': 'yes' } })
  t.equal(answer.body.toString(), 'nothing')
})

t.test('a body without end is read as far as allowed, and the connection closed', async (t) => {
  let closed: Promise<unknown> | undefined
  const url = await serve(t, (_, response) => {
    closed = once(response, 'close')
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', more)
    more()
  })
  const { body } = await fetchBeginning(url, { agent, totalMs: 5_000, maxBytes: 100_000 })
  t.equal(body.length, 100_000)
  await closed
})

t.test('a body that breaks off is what has come of it', async (t) => {
  const url = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('begun', () => response.destroy())
  })
  const { status, body } = await fetchBeginning(url, { agent, totalMs: 2_000, maxBytes: 1_000 })
  t.equal(status, 200)
  t.equal(body.toString(), 'begun')
})

t.test('a body of exactly the limit is whole', async (t) => {
  const url = await serve(t, (_, response) => response.end(Buffer.alloc(1_000)))
  const { body } = await fetchBeginning(url, { agent, totalMs: 2_000, maxBytes: 1_000 })
  t.equal(body.length, 1_000)
})

t.test('one time limit covers silence, headers and a dripping body', async (t) => {
  const silent = await serve(t, () => undefined)
  const dripping = await serve(t, (_, response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write('.'), 50)
    response.on('close', () => clearInterval(drip))
  })
  const began = performance.now()
  await t.rejects(fetchBeginning(silent, { agent, totalMs: 300, maxBytes: 1_000 }))
  const { body } = await fetchBeginning(dripping, { agent, totalMs: 300, maxBytes: 1_000 })
  t.match(body.toString(), /^\.+$/)
  const { body: waited } = await openUrl(dripping, { agent, totalMs: 60_000 })
  t.match((await beginningOf(waited, { bytes: 1_000, ms: 300 })).toString(), /^\.+$/)
  t.ok(performance.now() - began < 3_000, 'it did not wait any longer')
})

t.test('a caller who goes away ends the request', async (t) => {
  const url = await serve(t, () => undefined)
  const caller = new AbortController()
  const answer = fetchBeginning(url, { agent, totalMs: 60_000, maxBytes: 1, signal: caller.signal })
  setImmediate(() => caller.abort())
  await t.rejects(answer)
})

t.test('redirects are an answer like any other unless they are asked for', async (t) => {
  const seen: (string | undefined)[] = []
  const url = await serve(t, (request, response) => {
    seen.push(request.headers.authorization)
    if (request.url === '/end') response.end('end')
    else response.writeHead(302, { location: request.url === '/loop' ? '/loop' : '/end' }).end()
  })
  const headers = { authorization: 'secret' }
  const asked = { agent, totalMs: 2_000, maxBytes: 100, headers }
  t.equal((await fetchBeginning(`${url}/a`, asked)).status, 302)
  t.equal((await fetchBeginning(`${url}/a`, { ...asked, redirects: 3 })).body.toString(), 'end')
  t.equal((await fetchBeginning(`${url}/loop`, { ...asked, redirects: 3 })).status, 302)
  t.same(seen.slice(0, 3), ['secret', 'secret', undefined], 'a secret is not carried along')
})

t.test('only a redirect leads on, and only a GET follows it', async (t) => {
  const url = await serve(t, (request, response) => {
    const status = Number(request.url?.slice(1))
    if (request.url === '/end') response.end('end')
    else response.writeHead(status, { location: '/end' }).end()
  })
  const asked = { agent, totalMs: 2_000, maxBytes: 100, redirects: 3 }
  const statusOf = async (path: string, more?: { method: 'POST' }) =>
    (await fetchBeginning(`${url}/${path}`, { ...asked, ...more })).status
  t.equal(await statusOf('300'), 200)
  t.equal(await statusOf('399'), 200)
  for (const path of ['201', '299', '400', '404']) t.equal(await statusOf(path), Number(path))
  t.equal(await statusOf('302', { method: 'POST' }), 302, 'what was sent is sent nowhere else')
})

t.test('a redirect is left without its body', async (t) => {
  let closed: Promise<unknown> | undefined
  const url = await serve(t, (request, response) => {
    if (request.url === '/end') return response.end('end')
    closed = once(response, 'close')
    response.writeHead(302, { location: '/end' }).write('and more comes, some day')
  })
  const { body } = await fetchBeginning(url, {
    agent,
    totalMs: 2_000,
    maxBytes: 100,
    redirects: 1,
  })
  t.equal(body.toString(), 'end')
  await closed
})

t.test('a redirect leads inside no more than an address does', async (t) => {
  const inside = await serve(t, (_, response) => response.end('a secret'))
  const leading = (location: string) =>
    serve(t, (_, response) => response.writeHead(302, { location }).end())
  const guarded = createGuardedAgent({
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  t.teardown(() => guarded.destroy())
  /** The first address is taken for a public one. */
  const ask = (first: string) => {
    const outside = guarded.compose(
      (dispatch) => (options, handler) =>
        options.origin === first ? agent.dispatch(options, handler) : dispatch(options, handler),
    )
    return openUrl(first, { agent: outside, totalMs: 1_000, redirects: 2 })
  }
  await t.rejects(ask(await leading(inside)), { name: 'AddressRefused' })
  await t.rejects(ask(await leading('http://evil.test/')), { name: 'AddressRefused' })
  const refused = new UrlRefused('Unsupported URL protocol')
  await t.rejects(ask(await leading('file:///etc/passwd')), refused)
  await t.rejects(ask(await leading('http://')), new UrlRefused('Host is invalid'))
})

t.test('addresses that are none are refused before anything is asked', async (t) => {
  const refused = {
    'ftp://example.com/': 'Unsupported URL protocol',
    'file:///etc/passwd': 'Unsupported URL protocol',
    'http://user:pass@example.com/': 'Host is invalid',
    'http://user@example.com/': 'Host is invalid',
    'http://:pass@example.com/': 'Host is invalid',
    'http://example.com#@127.0.0.1/': undefined,
    'https://example.com/': undefined,
    'not an address': 'Host is invalid',
    'http://': 'Host is invalid',
    [`http://${'a.'.repeat(130)}com/`]: 'Host is invalid',
  }
  for (const [text, reason] of Object.entries(refused)) {
    if (reason === undefined) t.equal(parseUrl(text).hostname, 'example.com')
    else t.throws(() => parseUrl(text), new UrlRefused(reason), text)
  }
})
