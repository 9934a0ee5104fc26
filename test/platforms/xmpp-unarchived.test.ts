/** What a server without an archive sends again to the next session is recognised, and nothing else is. */
import { xml } from '@xmpp/client'
import t from 'tap'
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

t.test('each message of the last batch is recognised once', async (t) => {
  const stored = unarchivedOf([message('1', 'yes'), message('2', 'no')])
  const repeats = new Repeats(parseUnarchived({ unarchived: stored.map((each) => [...each]) }))
  t.equal(repeats.take(message('1', 'another', now())), false)
  t.equal(repeats.take(message('1', 'yes', '2020-01-01T00:00:00Z')), false)
  t.equal(repeats.take(message('1', 'yes')), false, 'the server has not kept it')
  t.equal(repeats.take(message('1', 'yes', now())), true)
  t.equal(repeats.take(message('1', 'yes', now())), false)
  t.equal(repeats.take(message('2', 'no', now())), true)
})

t.test(
  'a random id is recognised even where the server does not say that it kept it',
  async (t) => {
    const id = 'c0ffee00-0000-4000-8000-000000000001'
    const repeats = new Repeats(unarchivedOf([message(id, 'yes')]))
    t.equal(repeats.take(message(id, 'yes')), true)
    t.equal(repeats.take(message(id, 'yes')), false)
    t.strictSame(parseUnarchived({ unarchived: [1, ['x'], ['x', 'y'], null] }), [])
  },
)

/** Each call begins the next session of one account, with what the one before has stored. */
function sessions() {
  const told: Happening[] = []
  let checkpoint: Json = null
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
      unarchived,
      sent: new SentRequests(),
    }
    return new Ledger(start, report, {
      found: ignore,
      receiptWanted: ignore,
      invited: ignore,
      recall: async () => [],
      measured: async (happenings) => happenings,
    })
  }
  return { begin, told, remembered: () => parseUnarchived(checkpoint).length }
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
  for (let killed = 0; killed < 10; killed++)
    await begin().commit(
      busy.map(({ message: { attrs } }) => message(`${attrs.id}-${killed}`, 'again')),
    )
  t.equal(remembered(), 400, 'however often it is killed')
})

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
