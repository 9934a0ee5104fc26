/** Starting to link is limited by target, by user and in all: it sends codes to strangers and tries passwords elsewhere. */
import t, { type Test } from 'tap'
import { limitLinks } from '../../src/links/limits.ts'
import { failureOf } from '../support/accounts.ts'
import { testDatabase } from '../support/database.ts'
import { testVault } from '../support/vault.ts'

const many = { count: 1_000, seconds: 3_600 }

async function rig(t: Test, limits: object) {
  const { database } = await testDatabase(t)
  const vault = await testVault(t, database)
  const time = { now: new Date('2026-01-01T12:00:00Z') }
  const all = { perTarget: many, perUser: many, inAll: many, ...limits }
  const gate = limitLinks(database, vault, all, () => time.now)
  const start = async (userId: number, platform: string, fields: Record<string, string>) =>
    (await failureOf(gate.start({ userId, platform, fields })))?.retryAfterSeconds ?? 0
  return { database, time, start }
}

t.test('one target, however it is spelt and whoever asks', async (t) => {
  const { start, time, database } = await rig(t, { perTarget: { count: 2, seconds: 3_600 } })
  const targets: [string, Record<string, string>[]][] = [
    [
      'telegram',
      [{ phone: '+4915112345678' }, { phone: '49 151 12345678' }, { phone: '+49-15112345678' }],
    ],
    [
      'xmpp',
      [
        { jid: 'Ada@Example.org', password: 'a' },
        { jid: 'ada@example.org/phone', password: 'b' },
        { jid: 'ada@example.org', password: 'c' },
      ],
    ],
    ['bale', [{ token: '123456:aaa' }, { token: '123456:bbb' }, { token: ' 123456:ccc' }]],
  ]
  for (const [platform, spellings] of targets) {
    const waits = []
    for (const [userId, fields] of spellings.entries())
      waits.push(await start(userId, platform, fields))
    t.same(waits, [0, 0, 3_600], platform)
  }
  t.equal(await start(1, 'telegram', { phone: '+4915112345679' }), 0, 'another one')
  t.notMatch(JSON.stringify(await database.query('select * from quota')), /15112345678|ada@|123456/)
  time.now = new Date(time.now.getTime() + 3_600_000)
  t.equal(await start(1, 'telegram', { phone: '+4915112345678' }), 0)
})

t.test('one user, and all together; at once, too', async (t) => {
  const limits = { perUser: { count: 5, seconds: 60 }, inAll: { count: 8, seconds: 60 } }
  const { start } = await rig(t, limits)
  const from = (userId: number, n: number) =>
    start(userId, 'telegram', { phone: `+49151123450${n}` })
  const first = await Promise.all(Array.from({ length: 20 }, (_, n) => from(1, n)))
  t.equal(first.filter((wait) => wait === 0).length, 5)
  const second = await Promise.all(Array.from({ length: 5 }, (_, n) => from(2, 50 + n)))
  t.equal(second.filter((wait) => wait === 0).length, 3)
  t.equal(await start(1, 'sandbox', { phone: '+14155550100' }), 0, 'the sandbox is the own network')
})
