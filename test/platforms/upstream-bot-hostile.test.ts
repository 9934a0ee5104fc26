/** A bot API that misbehaves: every answer is one a client understands, and none tells the token. */
import t from 'tap'
import type { Passed } from '../../machines/model/operation-passing.ts'
import { telegramBot } from '../../src/platforms/upstream-bot/flavour.ts'
import { flood } from '../support/flood.ts'
import { listen, portOf } from '../support/http-server.ts'
import { patience } from './contract/recorder.ts'
import { perform, refusalOf } from './contract/scene.ts'
import {
  cutOff,
  html,
  ok,
  passing,
  raw,
  refusal,
  session,
  startStub,
  token,
} from './upstream-bot/stub.ts'

const send = passing('sendMessage', { chat_id: 42, text: 'hello' })

t.test('a refusal is passed on as it came', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  const cases = {
    'keeps its text': [
      400,
      '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}',
      { code: 'bad_request', description: 'chat not found' },
    ],
    'of the user': [
      403,
      '{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}',
      { code: 'forbidden' },
    ],
    'to a chat that moved tells where': [
      400,
      '{"ok":false,"error_code":400,"description":"Bad Request: x","parameters":{"migrate_to_chat_id":-1001}}',
      { migrateToChatId: -1001 },
    ],
    'too many tells when': [
      429,
      '{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7","parameters":{"retry_after":7}}',
      { code: 'rate_limited', retryAfterSeconds: 7 },
    ],
    'of an unknown method': [
      404,
      '{"ok":false,"error_code":404,"description":"Not Found"}',
      { code: 'bad_request' },
    ],
    'of a server in trouble': [
      500,
      '{"ok":false,"error_code":500,"description":"Internal Server Error"}',
      { code: 'bad_gateway', certain: false },
    ],
    'in a form of its own': [
      418,
      '{ "error_code" : 418, "ok": false, "more": 12345678901234567890 }',
      { code: 'bad_request' },
    ],
  } as const
  for (const [name, [status, text, failure]] of Object.entries(cases)) {
    stub.next('sendMessage', raw(status, text, { 'content-type': 'text/html' }))
    t.match(await perform(open, send), { kind: 'passed', status, text, failure }, name)
  }
  stub.next('sendMessage', refusal(400, `Bad Request: /bot${token}/x`))
  const { text } = (await perform(open, send)) as Passed
  t.match(text, '/bot<token>/x', 'but for the token')
  stub.next('sendMessage', raw(200, '{"ok":true,"result":{"n":9007199254740993}}'))
  const passed = (await perform(open, send)) as Passed
  t.equal(passed.text, '{"ok":true,"result":{"n":9007199254740993}}')
  t.equal(passed.result(), '{"n":9007199254740993}')
  t.strictSame(
    open.reports.map(([report]) => report),
    ['opened'],
    'the session goes on',
  )
})

t.test('no other key is told of what is nested deeper than bots can read', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  const sent = (more: string) => `{"message_id":7,"chat":{"id":42,"type":"private"},"a":${more}}`
  const [usual, deep] = [sent('[]'), sent('['.repeat(10_000) + ']'.repeat(10_000))]
  stub.next('sendMessage', raw(200, `{"ok":true,"result":[${deep},${usual}]}`))
  const { own, result } = (await perform(open, send)) as Passed
  t.match(own('call'), [{ payload: `"message":${usual}` }])
  t.equal(own('call').length, 1)
  t.equal(result(), `[${deep},${usual}]`, 'the caller has all of it')
})

t.test('an answer that is none is an error of the gateway', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  const uncertain = { certain: false }
  const cases = {
    'by a proxy': [html, { code: 'bad_gateway', ...uncertain }],
    'broken JSON': [raw(200, '{"ok":true,"result":{'), { code: 'bad_gateway', ...uncertain }],
    'other JSON': [raw(200, '[]'), { code: 'bad_gateway', ...uncertain }],
    'cut off': [cutOff, { code: 'timeout', ...uncertain }],
    never: [() => undefined, { code: 'timeout', ...uncertain }],
  } as const
  for (const [name, [answer, expected]] of Object.entries(cases)) {
    stub.next('sendMessage', answer)
    const signal = name === 'never' ? AbortSignal.timeout(300) : patience()
    const failure = await refusalOf(open.session.perform(send, 'id', signal))
    t.match(failure, expected, name)
  }
  t.notOk(open.lines.join('\n').includes(token.split(':')[1]!), 'no token in the log')
})

t.test('a byte order mark and an interim answer that nobody asked for do no harm', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  const answer = '{"ok":true,"result":{"message_id":7}}'
  stub.next('sendMessage', (response) => {
    response.writeContinue()
    response.writeProcessing()
    response.writeContinue()
    response.writeHead(200, { 'content-type': 'application/json' }).end(`\ufeff${answer}`)
  })
  const { status, text } = (await perform(open, send)) as Passed
  t.same([status, text], [200, answer])
})

t.test('a bot whose token was taken back is out', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  stub.next('sendMessage', refusal(401, 'Unauthorized'))
  t.match(await refusalOf(perform(open, send)), { code: 'forbidden', reason: 'logged_out' })
  t.strictSame(await open.reported('revoked'), ['session_revoked'])
  t.match(await refusalOf(perform(open, send)), { code: 'unavailable' })
})

t.test('a long wait is a restriction of the bot', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  const long = refusal(429, 'Too Many Requests: retry after 3600', { retry_after: 3600 })
  stub.next('sendMessage', long)
  t.match(await perform(open, send), { failure: { retryAfterSeconds: 3600 } })
  t.strictSame(await open.reported('limited'), ['flood_wait', 3600])
})

t.test('an endless answer is not read to its end', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  let written = 0
  stub.next('sendMessage', (response) => {
    const chunk = Buffer.alloc(1024 * 1024, ' ')
    const write = () => {
      if (response.destroyed) return
      written += 1
      if (response.write(chunk)) setImmediate(write)
      else response.once('drain', write)
    }
    write()
  })
  t.match(await refusalOf(perform(open, send)), { code: 'bad_gateway', certain: false })
  t.ok(written < 64, `${written} MB were sent`)
})

t.test('a drip ends with the time of the call', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  let dripping: NodeJS.Timeout | undefined
  stub.next('getMe', (response) => {
    dripping = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(dripping))
  })
  const began = performance.now()
  await t.rejects(open.session.probe(AbortSignal.timeout(300)))
  t.ok(performance.now() - began < 2_000)
})

t.test('nothing leads elsewhere', async (t) => {
  const asked: (string | undefined)[] = []
  const elsewhere = await listen(t, ({ url }, response) => {
    asked.push(url)
    response.end('{"ok":true,"result":true}')
  })
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  const location = `http://127.0.0.1:${portOf(elsewhere)}/bot${token}/x`
  stub.next('sendMessage', raw(307, '', { location }))
  t.match(await refusalOf(perform(open, send)), { code: 'bad_gateway' })
  stub.next('file_1', raw(302, '', { location }))
  const get = { method: 'GET' as const, headers: {} }
  const file = await open.session.passFile!('documents/file_1', get, patience())
  t.equal(file.status, 302)
  file.body.destroy()
  const before = stub.asked.length
  for (const path of ['/etc/passwd', '../bot1:x/getMe', 'a/../../b', 'a//b', '']) {
    const failure = await refusalOf(open.session.passFile!(path, get, patience()))
    t.match(failure, { code: 'not_found' }, path)
  }
  const since = stub.asked.slice(before).filter(({ method }) => method !== 'getUpdates')
  t.strictSame([asked, since], [[], []])
})

t.test('the service sends texts of its own, and nothing else', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  stub.next('sendMessage', ok({ message_id: 1 }))
  const content = { kind: 'text' as const, text: 'Test', entities: [] }
  t.match(await perform(open, { kind: 'send', chat: '42', content }), { kind: 'done' })
  t.strictSame(stub.last('sendMessage')?.body, { chat_id: '42', text: 'Test' })
  stub.next('sendMessage', refusal(400, 'Bad Request: chat not found'))
  const refused = await refusalOf(perform(open, { kind: 'send', chat: '7', content }))
  t.match(refused, { code: 'bad_request', description: 'chat not found' })
})

t.test('an answer that brings nothing without end is cut off', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  let written = () => 0
  stub.next('sendMessage', ({ socket }) => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;'
    if (socket) written = flood(socket, head, Buffer.alloc(65_536, '0'))
  })
  const { code, certain } = await refusalOf(perform(open, send))
  t.same({ code, certain }, { code: 'timeout', certain: false })
  t.ok(written() > 0 && written() < 100_000_000, `${written()} bytes were written`)
})
