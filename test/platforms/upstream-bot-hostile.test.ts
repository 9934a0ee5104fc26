/** A bot API that misbehaves: every answer is one a client understands, and none tells the token. */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { telegramBot } from '../../src/platforms/upstream-bot/flavour.ts'
import { listen, portOf } from '../support/http-server.ts'
import { patience } from './contract/recorder.ts'
import { perform, refusalOf, sending } from './contract/scene.ts'
import { html, ok, raw, refusal, session, startStub, token, update } from './upstream-bot/stub.ts'

const cutOff = (response: ServerResponse) => {
  response.writeHead(200, { 'content-length': '100' })
  response.write('{"ok":true', () => response.destroy())
}
const send = sending('42', 'hello')

t.test('a send', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  const uncertain = { certain: false }
  const migrated = refusal(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
    migrate_to_chat_id: -1001,
  })
  const cases = {
    'refused, keeps the text': [
      refusal(400, 'Bad Request: chat not found'),
      { code: 'bad_request', description: 'chat not found' },
    ],
    'forbidden, keeps the text': [
      refusal(403, 'Forbidden: bot was blocked by the user'),
      { code: 'forbidden', description: 'bot was blocked by the user' },
    ],
    'to a chat that moved, tells where': [
      migrated,
      { code: 'bad_request', migrateToChatId: -1001 },
    ],
    'too many, tells when': [
      refusal(429, 'Too Many Requests: retry after 7', { retry_after: 7 }),
      { code: 'rate_limited', retryAfterSeconds: 7 },
    ],
    'answered by a proxy': [html, { code: 'bad_gateway', ...uncertain }],
    'answered with an error of the server': [
      refusal(500, 'Internal Server Error'),
      { code: 'bad_gateway', ...uncertain },
    ],
    'answered with broken JSON': [
      raw(200, '{"ok":true,"result":{'),
      { code: 'bad_gateway', ...uncertain },
    ],
    'answered with other JSON': [raw(200, '[]'), { code: 'bad_gateway', ...uncertain }],
    'answered with no message': [ok('done'), { code: 'bad_gateway', ...uncertain }],
    'cut off': [cutOff, { code: 'timeout', ...uncertain }],
    'never answered': [() => undefined, { code: 'timeout', ...uncertain }],
    'of an unknown method': [
      refusal(404, 'Not Found'),
      { code: 'bad_request', description: /^the method is not supported on Telegram bots$/ },
    ],
    'with the token in the text': [
      refusal(400, `Bad Request: /bot${token}/x`),
      { description: '/bot<token>/x' },
    ],
  } as const
  for (const [name, [answer, expected]] of Object.entries(cases)) {
    stub.next('sendMessage', answer)
    const signal = name === 'never answered' ? AbortSignal.timeout(300) : patience()
    const failure = await refusalOf(open.session.perform(send, 'id', signal))
    t.match(failure, expected, name)
  }
  const { message } = update('hello')
  stub.next(
    'sendMessage',
    raw(200, JSON.stringify({ ok: true, result: message }), { 'content-type': 'text/html' }),
  )
  t.match(
    await perform(open, send),
    { kind: 'message' },
    'whatever type the answer is said to have',
  )
  t.strictSame(
    open.reports.map(([report]) => report),
    ['opened'],
    'the session goes on',
  )
})

t.test('a long wait is a restriction of the bot', async (t) => {
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  stub.next(
    'sendMessage',
    refusal(429, 'Too Many Requests: retry after 3600', { retry_after: 3600 }),
  )
  t.match(await refusalOf(perform(open, send)), { retryAfterSeconds: 3600 })
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

t.test('a redirect is not followed', async (t) => {
  const asked: (string | undefined)[] = []
  const elsewhere = await listen(t, ({ url }, response) => {
    asked.push(url)
    response.end('{"ok":true,"result":true}')
  })
  const stub = await startStub(t)
  const open = await session(t, stub.url, telegramBot)
  await open.reported('opened')
  stub.next(
    'sendMessage',
    raw(307, '', { location: `http://127.0.0.1:${portOf(elsewhere)}/bot${token}/x` }),
  )
  t.match(await refusalOf(perform(open, send)), { code: 'bad_gateway' })
  stub.next('getFile', ok({ file_id: 'f', file_path: 'documents/file_1' }))
  stub.next('file_1', raw(302, '', { location: `http://127.0.0.1:${portOf(elsewhere)}/file` }))
  t.match(await refusalOf(open.session.download('f', 0, patience())), { code: 'bad_gateway' })
  for (const file_path of ['/etc/passwd', '../bot1:x/getMe', 'a/../../b']) {
    stub.next('getFile', ok({ file_id: 'f', file_path }))
    const failure = await refusalOf(open.session.download('f', 0, patience()))
    t.match(failure, { code: 'bad_request' }, file_path)
  }
  t.strictSame(asked, [])
})
