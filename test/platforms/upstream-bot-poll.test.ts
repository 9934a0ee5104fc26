/** Taking updates from a bot API that misbehaves: what ends the bot, what is waited out, what is passed over. */
import { syncBuiltinESMExports } from 'node:module'
import timers, { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { telegramBot } from '../../src/platforms/upstream-bot/flavour.ts'
import { Updates } from '../../src/platforms/upstream-bot/poll.ts'
import { quietLogger } from '../support/logger.ts'
import { perform, refusalOf } from './contract/scene.ts'
import {
  html,
  json,
  ok,
  passing,
  refusal,
  session,
  startStub,
  token,
  update,
} from './upstream-bot/stub.ts'

const send = passing('sendMessage', { chat_id: 42, text: 'hello' })

t.test('the poll', async (t) => {
  const endings = {
    'another poller replaces': [
      refusal(409, 'Conflict: terminated by other getUpdates request'),
      'replaced',
      [],
    ],
    'a lost token revokes': [refusal(401, 'Unauthorized'), 'revoked', ['session_revoked']],
    'a banned bot is invalid': [
      refusal(403, 'Forbidden: bot was banned'),
      'invalid',
      ['account_banned'],
    ],
    'proxies that go on are lost': [html, 'lost', ['bad_answer', undefined]],
    'a gateway that refuses access is lost': [
      json({ ok: false, message: 'access denied' }, 403),
      'lost',
      ['bad_answer', undefined],
    ],
    'a gateway that knows no such path is lost': [
      json({ ok: false, error: 'no route' }, 404),
      'lost',
      ['bad_answer', undefined],
    ],
    'a gateway that wants a login is lost': [
      json({ ok: false, error: 'sign in' }, 401),
      'lost',
      ['bad_answer', undefined],
    ],
    'updates that are none are lost': [ok([{ id: 1 }]), 'lost', ['bad_answer', undefined]],
  } as const
  for (const [name, [answer, report, words]] of Object.entries(endings)) {
    await t.test(name, async (t) => {
      const stub = await startStub(t)
      stub.next('getUpdates', answer, answer)
      const open = await session(t, stub.url, telegramBot)
      t.strictSame(await open.reported(report), words)
      t.notOk(open.lines.join('\n').includes(token.split(':')[1]!), 'no token in the log')
      t.match(await refusalOf(perform(open, send)), { code: 'unavailable' })
    })
  }

  await t.test('one bad answer is passed over, and so is an update without a kind', async (t) => {
    const stub = await startStub(t)
    stub.next('getUpdates', html)
    const open = await session(t, stub.url, telegramBot)
    const [, latencyMs] = await open.reported('opened')
    t.ok(typeof latencyMs === 'number' && latencyMs > 0, 'its answer is as good as a probe')
    const [first, odd, strange, last] = [update('one'), update('odd'), update('new'), update('two')]
    const { update_id } = strange
    const unknown = { update_id, something_new: { a: [1] } }
    stub.push(first, { update_id: odd.update_id }, unknown, last)
    await open.said('two')
    t.strictSame(open.texts(), ['one', undefined, 'two'])
    t.match(open.store.happenings[1], {
      kind: 'update',
      update: 'something_new',
      payload: /^"something_new":{"a":\[1\]}/,
    })
    t.strictSame(open.store.checkpoint, { offset: last.update_id + 1 })
    t.match(
      open.lines.join('\n'),
      /an update that has no kind or is nested too deep was passed over/,
    )
    t.strictSame(
      open.reports.map(([report, kind]) => (report === 'passedOver' ? kind : report)),
      ['opened', 'unknown'],
    )
    const asked = stub.asked.filter(({ method }) => method === 'getUpdates')
    t.equal(asked[0]!.body.offset, undefined)
  })

  await t.test('a server that does not hold it is asked again soon', async (t) => {
    const stub = await startStub(t)
    const same = update('the same')
    const asked: number[] = []
    const noted = [ok([]), ok([same]), ...Array.from({ length: 7 }, () => ok([same]))].map(
      (answer): typeof answer =>
        (response, call) => {
          asked.push(performance.now())
          answer(response, call)
        },
    )
    stub.next('getUpdates', ...noted)
    const open = await session(t, stub.url, telegramBot)
    await open.said('the same')
    stub.push(update('after it'))
    await open.said('after it')
    // A slow machine only makes it longer. Timers may end a little early.
    const tookMs = (asked.at(-1) ?? 0) - (asked[2] ?? 0)
    t.ok(tookMs > 6 * 18, `six polls in ${tookMs} ms`)
    t.strictSame(open.texts(), ['the same', 'after it'])
  })

  await t.test(
    'a wait that is none, or longer than timers are, is no reason to ask at once',
    async (t) => {
      for (const retry_after of [0, -7, 0.2]) {
        const stub = await startStub(t)
        const answer = refusal(429, 'Too Many Requests', { retry_after })
        stub.next('getUpdates', ...Array.from({ length: 50 }, () => answer))
        const open = await session(t, stub.url, telegramBot)
        t.strictSame(await open.reported('limited'), ['flood_wait', 1])
        await pause(300)
        t.equal(stub.asked.filter(({ method }) => method === 'getUpdates').length, 1)
      }
      const stub = await startStub(t)
      const answer = refusal(429, 'Too Many Requests', { retry_after: 1e9 })
      stub.next('getUpdates', answer, answer, answer)
      const open = await session(t, stub.url, telegramBot)
      t.strictSame(await open.reported('limited'), ['flood_wait', 86_400])
      await pause(100)
      t.equal(stub.asked.filter(({ method }) => method === 'getUpdates').length, 1)
    },
  )

  await t.test('a restriction is told and waited out', async (t) => {
    const stub = await startStub(t)
    stub.next('getUpdates', refusal(429, 'Too Many Requests', { retry_after: 1 }))
    const open = await session(t, stub.url, telegramBot)
    t.strictSame(await open.reported('limited'), ['flood_wait', 1])
    stub.push(update('after it'))
    await open.said('after it')
    t.notOk(open.reports.some(([report]) => report === 'lost'))
  })
})

t.test('a server that does not hold polls is asked as seldom as it has news', async (t) => {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const pauses: number[] = []
  const pausing = async (ms: number) => {
    pauses.push(ms)
    now += ms
  }
  // tap's own mocks work only where its runner starts the file; without it this would wait in earnest.
  const pausesOf = timers.setTimeout
  timers.setTimeout = pausing as never
  syncBuiltinESMExports()
  t.teardown(() => {
    timers.setTimeout = pausesOf
    syncBuiltinESMExports()
  })
  let news: object[] = []
  const client = {
    async ask() {
      now += 5
      const result = news
      news = []
      return {
        status: 200,
        text: JSON.stringify({ ok: true, result }),
        envelope: { ok: true, result },
      }
    },
  }
  const options = {
    client: client as never,
    flavour: telegramBot,
    report: { events: async () => undefined, passedOver: () => undefined },
    logger: quietLogger,
    credentialId: 1,
    self: '1',
    wanted: { names: async () => [], onChange: () => () => undefined },
    holdSeconds: 25,
  }
  const updates = new Updates(options as never, null)
  const { signal } = new AbortController()
  const quiet = async (untilMs: number) => {
    while (now < untilMs) await updates.poll(signal)
  }
  await quiet(10_000)
  t.ok(Math.max(...pauses) <= 100, 'after ten seconds of silence an update waits 100 ms at most')
  await quiet(200_000)
  t.equal(Math.max(...pauses), 995, 'and after minutes a second')
  const soFar = pauses.length
  t.ok(soFar < 800, `${soFar} polls in 200 s`)
  news = [update('new')]
  await updates.poll(signal)
  t.equal(pauses.length, soFar, 'what is new is followed by the next poll at once')
  await updates.poll(signal)
  t.equal(pauses.at(-1), 15)
})
