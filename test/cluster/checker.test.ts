/** The checker finds what it is there for: each history is spoilt in one way. */
import t from 'tap'
import type { Database, Queryable } from '../../src/database/database.ts'
import type { Client } from '../support/client.ts'
import { many, stage } from '../updates/stage.ts'
import { historyOf } from './accounts.ts'
import { type AccountHistory, overlapsOf, violationsOf } from './checker.ts'
import { Traffic } from './load.ts'
import { recordWrites } from './writes.ts'

const byOne = { epoch: 4, owner: 'one', incarnation: 7, writer: 'one.1' }
const byTwo = { epoch: 6, owner: 'two', incarnation: 8, writer: 'two.1' }
const well: AccountHistory = {
  name: 'ada',
  written: ['1', '2', '3'],
  seen: [1, 2, 2, 3].map((id) => ({ updateId: id, messageId: 10 + id, text: `${id}` })),
  failures: [],
  sent: ['a', 'b'],
  unknown: ['c', 'd'],
  stored: ['a', 'b', 'd'],
  log: { updates: 3, ids: 3 },
  writes: [
    { updateId: 1, ...byOne },
    { updateId: 2, ...byTwo },
    { updateId: 3, ...byTwo },
  ],
  states: ['active', 'active'],
}
const seen = (...triples: [updateId: number, messageId: number, text: string][]) => ({
  seen: triples.map(([updateId, messageId, text]) => ({ updateId, messageId, text })),
})

t.test('deliveries that are repeated, and sends that nobody knows of, are well', async (t) => {
  t.same(violationsOf(well), [])
})

const spoilt: Record<string, readonly [Partial<AccountHistory>, RegExp]> = {
  'an update is lost': [seen([1, 11, '1'], [3, 13, '3']), /"2" was lost/],
  'the order is wrong': [seen([1, 11, '1'], [3, 13, '3'], [2, 12, '2']), /"2" came for the first/],
  'an id of an update has two meanings': [
    seen([1, 11, '1'], [1, 12, '2'], [3, 13, '3']),
    /update 1 is "1" and "2"/,
  ],
  'an id of a message has two meanings': [
    seen([1, 11, '1'], [2, 11, '2'], [3, 13, '3']),
    /message 11 is "1" and "2"/,
  ],
  'one text has two updates': [
    seen([1, 11, '1'], [2, 12, '2'], [4, 12, '2'], [3, 13, '3']),
    /"2" is update 2 and 4/,
  ],
  'a send is lost': [{ stored: ['b'] }, /"a" was not sent/],
  'a send is doubled': [{ stored: ['a', 'a', 'b'] }, /"a" was sent 2 times/],
  'a refused send is sent': [{ stored: ['a', 'b', 'z'] }, /"z" was refused, and sent/],
  'an id is left out': [{ log: { updates: 3, ids: 4 } }, /3 updates have 4 ids/],
  'a former owner writes': [
    { writes: well.writes.with(2, { updateId: 3, ...byTwo, writer: 'one.1' }) },
    /update 3 was stored by one\.1, its owner was two/,
  ],
  'the process before a restart writes as the one after it': [
    { writes: well.writes.with(2, { updateId: 3, ...byTwo, writer: 'two.2' }) },
    /update 3 was stored by two\.2 for two\.1/,
  ],
  'writes of two owners are interleaved': [
    { writes: well.writes.with(2, { updateId: 3, ...byOne }) },
    /update 3 is of epoch 4, after one of 6/,
  ],
  'nobody knows who wrote an update': [
    { writes: well.writes.slice(1) },
    /3 updates were stored by 2 writes/,
  ],
  'a library gives up': [{ failures: ['Error: 409'] }, /its library gave up: Error: 409/],
  'another state is stored': [{ states: ['active', 'failed'] }, /its owner shows active/],
  'an account is out in the end': [{ states: ['failed', 'failed'] }, /it is failed/],
}
for (const [name, [change, violation]] of Object.entries(spoilt)) {
  t.test(name, async (t) => {
    const found = violationsOf({ ...well, ...change })
    t.equal(found.length, 1, found.join())
    t.match(found[0], violation)
  })
}

t.test(
  'sessions of two nodes one after the other are well, and overlapping ones are not',
  async (t) => {
    const sessions = [
      { client: 1, openedAt: 0, heardAt: 10 },
      { client: 1, openedAt: 2, heardAt: 20 },
      { client: 2, openedAt: 20, heardAt: 30 },
      { client: 1, openedAt: 31, heardAt: 40 },
    ]
    const of = (more: object) => overlapsOf({ name: 'ada', sessions, isKeyEnded: false, ...more })
    t.same(of({}), [])
    const late = sessions.with(0, { client: 1, openedAt: 0, heardAt: 25 })
    t.same(of({ sessions: late }), ['ada: client 1 spoke 5 ms after 2 had come'])
    t.same(of({ isKeyEnded: true }), ['ada: its key was ended'])
  },
)

t.test('an update that is stored while the log is read is no violation', async (t) => {
  const { db, credential, node } = await stage(t)
  await recordWrites(db)
  const credentialId = await credential()
  await db.query(`update credential set state = 'active' where id = $1`, [credentialId])
  const { append } = await node([credentialId])
  await append(credentialId, many(3, 'before'))
  let late = 0
  const meanwhile = (on: Queryable): Queryable => ({
    async query(text, values) {
      const rows = await on.query<never>(text, values)
      if (String(text).includes('update_log')) await append(credentialId, many(1, `late${++late}`))
      return rows
    },
  })
  const reading: Database = {
    ...db,
    ...meanwhile(db),
    transaction: (work) => db.transaction((tx) => work(meanwhile(tx))),
  }
  const client = { ask: async () => ({ body: { result: { state: 'active' } } }) }
  const target = { credentialId, key: '', to: '', from: 0 }
  const bot = { kind: 'polling' as const, seen: [], failures: [], close: async () => undefined }
  const traffic = new Traffic(target)
  const account = { name: 'one', credentialId, key: '', stored: async () => [], bot, traffic }
  const { log, writes } = await historyOf(account, client as unknown as Client, reading)
  t.equal(late, 1)
  t.equal(log.updates, writes.length)
})
