/** Linking a bot by its token: whose it is, why not, and where the service may go to ask. */
import t from 'tap'
import { LinkRefused } from '../../machines/model/failure.ts'
import { bale, telegramBot } from '../../src/platforms/upstream-bot/flavour.ts'
import { createBotApi } from '../../src/platforms/upstream-bot/platform.ts'
import { failureOf } from '../support/accounts.ts'
import { quietLogger } from '../support/logger.ts'
import { patience } from './contract/recorder.ts'
import { html, me, ok, refusal, session, startStub, token, wantsAll } from './upstream-bot/stub.ts'

t.test('a link', async (t) => {
  const stub = await startStub(t)
  const { platform, reported } = await session(t, stub.url, telegramBot)
  await reported('opened')
  const step = async (fields: object = {}) =>
    (await platform.startLink('token', { token, ...fields }, patience())).step
  const cases = [
    [refusal(401, 'Unauthorized'), { kind: 'refused', reason: 'bad_credentials' }],
    [
      refusal(429, 'Too Many Requests', { retry_after: 9 }),
      { reason: 'flood_wait', retryAfterSeconds: 9 },
    ],
    [html, { kind: 'refused', reason: 'unreachable' }],
    [ok({ ...me, id: 'x' }), { kind: 'refused', reason: 'unreachable' }],
    [
      ok(me),
      { kind: 'done', account: { native: '123456', username: 'a_bot' }, secrets: { token } },
    ],
  ] as const
  for (const [answer, expected] of cases) {
    stub.next('getMe', answer)
    t.match(await step(), expected)
  }
  stub.next('getWebhookInfo', refusal(404, 'Not Found'))
  t.match(await step(), { kind: 'done' }, 'a server without the method has no webhook')
})

t.test('a bot that is not the one to be linked again keeps its webhook', async (t) => {
  const stub = await startStub(t)
  const { platform, reported } = await session(t, stub.url, telegramBot)
  await reported('opened')
  const natives: string[] = []
  const begin = (assertMeant: (native: string) => void) => {
    stub.asked.length = 0
    stub.next('getWebhookInfo', ok({ url: 'https://example.org/hook' }))
    stub.next('deleteWebhook', ok(true))
    const fields = { token, delete_webhook: 'true' }
    return platform.startLink('token', fields, patience(), 1, assertMeant)
  }
  const other = begin((native) => {
    natives.push(native)
    throw new LinkRefused('other_account', 'this is another account')
  })
  t.match(await failureOf(other), { code: 'bad_request', reason: 'other_account' })
  t.same(natives, ['123456'])
  t.notOk(stub.asked.some(({ method }) => /webhook/i.test(method)))
  t.match((await begin(() => undefined)).step, { kind: 'done' })
  t.ok(stub.asked.some(({ method }) => method === 'deleteWebhook'))
})

t.test('an address that nobody chose has to be public', async (t) => {
  const stub = await startStub(t)
  const options = { flavour: bale, url: stub.url, wanted: wantsAll, logger: quietLogger }
  for (const [allowPrivate, expected] of [
    [false, { kind: 'refused', reason: 'unreachable' }],
    [true, { kind: 'done', account: { native: '123456' } }],
  ] as const) {
    const { platform, close } = createBotApi({ ...options, allowPrivate })
    t.teardown(close)
    t.match((await platform.startLink('token', { token }, patience())).step, expected)
  }
  t.ok(stub.asked.length > 0)
})
