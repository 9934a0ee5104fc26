/** What a server without an archive sends again to the next session is recognised, and nothing else is. */
import { xml } from '@xmpp/client'
import t, { type Test } from 'tap'
import type { SessionReport } from '../../actors/ports/platform.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { Json } from '../../machines/model/protocol.ts'
import { SentRequests } from '../../src/platforms/kit/sent-requests.ts'
import { parseUnarchived, Repeats, unarchivedOf } from '../../src/platforms/xmpp/checkpoint.ts'
import { delivered } from '../../src/platforms/xmpp/delivery.ts'
import { Ledger } from '../../src/platforms/xmpp/ledger.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'

const trust = { own: 'me@here.test', domain: 'here.test', archive: false }

function message(id: string, text: string, stamp?: string) {
  const delay = stamp !== undefined && xml('delay', { xmlns: ns.delay, from: 'here.test', stamp })
  const attributes = { type: 'chat', id, from: 'ada@there.test/phone', to: trust.own }
  return delivered(xml('message', attributes, xml('body', {}, text), delay), trust)!
}

const now = () => new Date().toISOString()

/** From now on the clock of the process stands still; returns how to set it, in milliseconds from here. */
function clockOf(t: Test): (passed: number) => void {
  const start = performance.now()
  let passed = 0
  t.intercept(performance, 'now', { value: () => start + passed })
  return (milliseconds) => {
    passed = milliseconds
  }
}

t.test('each message of the last batch is recognised once', async (t) => {
  const stored = unarchivedOf([message('1', 'yes'), message('2', 'no')])
  const repeats = new Repeats(parseUnarchived({ unarchived: stored.map((each) => [...each]) }))
  t.equal(repeats.take(message('1', 'another', now())), undefined)
  t.equal(repeats.take(message('1', 'yes', '2020-01-01T00:00:00Z')), undefined)
  t.equal(repeats.take(message('1', 'yes')), undefined, 'the server has not kept it')
  t.ok(repeats.take(message('1', 'yes', now())))
  t.equal(repeats.take(message('1', 'yes', now())), undefined)
  t.ok(repeats.take(message('2', 'no', now())))
})

t.test(
  'a random id is recognised even where the server does not say that it kept it',
  async (t) => {
    const id = 'c0ffee00-0000-4000-8000-000000000001'
    const repeats = new Repeats(unarchivedOf([message(id, 'yes')]))
    t.ok(repeats.take(message(id, 'yes')))
    t.equal(repeats.take(message(id, 'yes')), undefined)
    t.strictSame(parseUnarchived({ unarchived: [1, ['x'], ['x', 'y'], null] }), [])
    const late = new Repeats(unarchivedOf([{ ...message(id, 'yes'), at: 1_000 }]))
    t.ok(late.take(message(id, 'yes')), 'however long the service was away')
    const counted = new Repeats(unarchivedOf([{ ...message('1', 'yes'), at: 1_000 }]))
    t.equal(
      counted.take(message('1', 'yes', now())),
      undefined,
      'an id that comes again is another',
    )
  },
)

t.test(
  'long after the start of the stream, the same id and text are another message',
  async (t) => {
    const id = 'c0ffee00-0000-4000-8000-000000000001'
    const setClock = clockOf(t)
    const repeats = new Repeats(unarchivedOf([message(id, 'yes'), message(id, 'yes')]))
    setClock(14 * 60_000)
    t.ok(repeats.take(message(id, 'yes')))
    setClock(16 * 60_000)
    t.equal(repeats.take(message(id, 'yes')), undefined)
  },
)

t.test('so is what another device of the account wrote', async (t) => {
  const own = (id: string) => ({ ...message(id, 'yes', now()), own: true })
  t.ok(new Repeats(unarchivedOf([own('1')])).take(own('1')))
  const random = own('c0ffee00-0000-4000-8000-000000000001')
  t.same(unarchivedOf([random]), [], 'its source key is the same each time')
})

/** Each call begins the next session of one account, with what the one before has stored. */
function sessions(checkpoint: Json = null) {
  const told: Happening[] = []
  const confirmed: string[] = []
  const report = {
    async events(happenings: readonly Happening[], newest: Json) {
      told.push(...happenings)
      checkpoint = newest
    },
  } as Partial<SessionReport> as SessionReport
  const ignore = () => undefined
  const begin = () => {
    const unarchived = parseUnarchived(checkpoint)
    const start = {
      own: trust.own,
      checkpoints: new Map(),
      invited: [],
      out: [],
      unarchived,
      sent: new SentRequests(),
    }
    return new Ledger(start, report, {
      found: ignore,
      receiptWanted: (_, id) => confirmed.push(id),
      invited: ignore,
      recall: async () => [],
      measured: async (happenings) => happenings,
    })
  }
  return {
    begin,
    told,
    confirmed,
    remembered: () => parseUnarchived(checkpoint).length,
    written: () => JSON.stringify(checkpoint).length,
  }
}

t.test('what two sessions in a row are sent again is stored once', async (t) => {
  const { begin, told } = sessions()
  const kept = () => message('1', 'first', now())
  await begin().commit([message('1', 'first')])
  await begin().commit([kept(), message('2', 'second')])
  await begin().commit([kept(), message('2', 'second', now()), message('3', 'third')])
  t.equal(told.length, 3)
})

t.test('a busy session does not forget what an earlier one stored', async (t) => {
  const { begin, told, remembered } = sessions()
  await begin().commit([message('1', 'first')])
  const busy = Array.from({ length: 150 }, (_, at) => message(`b${at}`, `busy ${at}`))
  await begin().commit(busy)
  await begin().commit([message('1', 'first', now()), message('last', 'last')])
  t.equal(told.length, 152)
  t.equal(remembered(), 152, 'the server may not have seen that a flood was acknowledged')
})

t.test('what each of many killed sessions is sent again is stored once', async (t) => {
  const { begin, told, remembered } = sessions()
  const spoken: string[] = []
  // ejabberd puts what it sends again into the queue of the next stream: of eight that end before an acknowledgement, it is all.
  for (let killed = 0; killed < 8; killed++) {
    const ledger = begin()
    const again = spoken.map((id) => message(id, id, now()))
    const news = Array.from({ length: 200 }, (_, at) => `${killed}:${at}`)
    spoken.push(...news)
    const live = news.map((id) => message(id, id))
    await ledger.commit([...live.slice(0, 5), ...again.slice(0, 95)])
    for (let from = 95; from < again.length; from += 100)
      await ledger.commit(again.slice(from, from + 100))
    await ledger.commit(live.slice(5))
  }
  t.equal(told.length, 1_600)
  t.equal(remembered(), 1_600)
})

t.test('what came again late is remembered as what has just been stored', async (t) => {
  const { begin, told } = sessions()
  await begin().commit([message('1', 'first')])
  const setClock = clockOf(t)
  const ledger = begin()
  setClock(59_000)
  await ledger.commit([message('1', 'first', now())])
  setClock(61_000)
  await ledger.commit([message('2', 'second')])
  await begin().commit([message('1', 'first', now())])
  t.equal(told.length, 2)
})

t.test('a new stream of a session still knows what earlier sessions have stored', async (t) => {
  const { begin, told } = sessions()
  await begin().commit([message('1', 'first')])
  const setClock = clockOf(t)
  const ledger = begin()
  setClock(61_000)
  await ledger.commit([message('2', 'second')])
  ledger.expectRepeats()
  await ledger.commit([message('1', 'first', now()), message('2', 'second', now())])
  t.equal(told.length, 2)
})

t.test('what is stored for the next session has one limit, of all sessions together', async (t) => {
  const { begin, remembered } = sessions()
  const flood = (name: string) =>
    Array.from({ length: 5_000 }, (_, at) => message(`${name}${at}`, 'x'))
  await begin().commit(flood('a'))
  await begin().commit(flood('b'))
  t.equal(remembered(), 5_000)
})

t.test('what is written with each batch of a flood is short', async (t) => {
  const { begin, told, remembered, written } = sessions()
  const flood = Array.from({ length: 5_000 }, (_, at) => message(`${at}`, 'x'))
  await begin().commit(flood)
  t.equal(remembered(), 5_000)
  t.ok(written() < 60_000, `${written()} characters`)
  await begin().commit(flood.map(({ message: { attrs } }) => message(attrs.id ?? '', 'x', now())))
  t.equal(told.length, 5_000)
})

t.test('what an earlier release has remembered is recognised', async (t) => {
  const pairs = unarchivedOf([message('1', 'yes'), message('2', 'no')]).map((each) => [...each])
  const { begin, told, remembered } = sessions({ unarchived: pairs })
  await begin().commit([message('1', 'yes', now()), message('2', 'no', now()), message('3', 'x')])
  t.equal(told.length, 1)
  t.equal(remembered(), 3)
  for (const unarchived of ['', 'x', '!:abcdefghijk', 'x:short', ':'])
    t.strictSame(parseUnarchived({ unarchived }), [], unarchived)
})

t.test('a session that waits long for its stream does not forget meanwhile', async (t) => {
  const { begin, told } = sessions()
  await begin().commit([message('1', 'first')])
  const setClock = clockOf(t)
  const ledger = begin()
  setClock(70_000)
  ledger.expectRepeats()
  await ledger.commit([message('2', 'second')])
  await begin().commit([message('1', 'first', now())])
  t.equal(told.length, 2)
})

t.test(
  'of a flood is remembered what was stored at last, and of the calm after it less',
  async (t) => {
    const { begin, told, remembered } = sessions()
    const ledger = begin()
    const flood = (name: string) =>
      Array.from({ length: 100 }, (_, at) => message(`${name}${at}`, 'x'))
    for (let batch = 0; batch < 60; batch++) await ledger.commit(flood(`${batch}:`))
    t.equal(remembered(), 5_000, 'no server keeps more')
    const again = flood('10:').map(({ message: { attrs } }) => message(attrs.id ?? '', 'x', now()))
    await begin().commit(again)
    t.equal(told.length, 6_000)
    clockOf(t)(60_000)
    await ledger.commit([message('calm', 'x')])
    t.equal(remembered(), 100)
  },
)

t.test('a session whose stream is a new one knows what it has stored itself', async (t) => {
  const { begin, told } = sessions()
  await begin().commit([message('1', 'first')])
  const ledger = begin()
  await ledger.commit([message('2', 'second')])
  for (let streams = 0; streams < 2; streams++) {
    ledger.expectRepeats()
    await ledger.commit([message('1', 'first', now()), message('2', 'second', now())])
  }
  t.equal(told.length, 2)
  await ledger.commit([message('2', 'second')])
  t.equal(told.length, 3, 'what is said once more counts')
})

t.test('a message with an endless id is stored, and not confirmed by it', async (t) => {
  const { begin, told, confirmed } = sessions()
  const ids = ['1', "'".repeat(100_000)]
  const asking = ids.map((id) => message(id, 'x'))
  for (const { message } of asking) message.append(xml('request', ns.receipts))
  await begin().commit(asking)
  t.equal(told.length, 2)
  t.same(confirmed, ['1'])
})
