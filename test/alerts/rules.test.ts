/** The rules beside accounts that are out: whom each finds, what it says, and that operators see the whole service. */
import t from 'tap'
import { countIncidents, listIncidents } from '../../src/alerts/incidents.ts'
import { listMembers } from '../../src/alerts/members.ts'
import { judge, noteDisk } from '../../src/alerts/rules.ts'
import { openDatabase } from '../../src/database/database.ts'
import { httpReceiver } from '../support/http-receiver.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { MINUTE, rig, start, webhookTo } from './rig.ts'

type Rig = Awaited<ReturnType<typeof rig>>

const at = (minutes: number) => new Date(start + minutes * MINUTE)
const shown = async ({ incidents }: Rig) =>
  (await incidents())
    .map(({ user_id, rule, subject, state, affected }) =>
      [user_id, rule, subject, state, affected].join(' '),
    )
    .toSorted()

/** An account that works, with a key that polled and was used a moment ago. */
async function key({ database }: Rig, id: number, userId = 1) {
  await database.query(
    `insert into credential (id, user_id, platform, native_id, state, machine_state)
     values ($1, $2, 'sandbox', $1::bigint::text, 'active', 'live.online')`,
    [id, userId],
  )
  await database.query(
    `insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor, polled_at, last_used_at)
     overriding system value values ($1::bigint + 100000, $2, $1::bigint, 'k', '{bot:receive}', $1::bigint::text::bytea, 'x', 0, $3, $3)`,
    [id, userId, at(0)],
  )
  return id + 100_000
}

t.test('a deaf account is not one that is out', async (t) => {
  const one = await rig(t)
  await one.out([1], 'no_traffic')
  await one.out([2], 'no_traffic')
  await one.database.query(`update credential set machine_state = 'live.deaf.pausing' where id = 2`)
  await one.tick(5)
  t.same(await shown(one), ['1 account_deaf no_traffic open 1', '1 account_out no_traffic open 1'])
})

t.test('a webhook that fails for five minutes is told, and its end', async (t) => {
  const receiver = await httpReceiver(t)
  const one = await rig(t)
  await one.save(webhookTo(receiver.url))
  const [first, second] = [await key(one, 1), await key(one, 2)]
  await one.database.query(
    `insert into webhook (api_key_id, sealed, shown_url, max_connections, has_certificate, failing_since)
     values ($1, 'x', 'x', 1, false, $3), ($2, 'x', 'x', 1, false, $3)`,
    [first, second, at(0)],
  )
  await one.tick(4)
  t.same(await shown(one), [])
  await one.tick(5)
  t.same(await shown(one), ['1 webhook_failing webhook_failing open 2'])
  await one.database.query('update api_key set revoked_at = now() where id = $1', [second])
  await one.tick(6)
  t.same(await shown(one), ['1 webhook_failing webhook_failing open 1'])
  await one.database.query('update webhook set failing_since = null')
  await one.tick(7)
  await one.tick(9)
  t.same(
    receiver.received.map(({ text }) => JSON.parse(text).data.text.split('. ')[0]),
    [
      '2 webhooks are failing',
      'Resolved at 2026-01-01 00:09 UTC: each webhook takes updates again, was set anew, or is no longer used',
    ],
  )
})

t.test('nothing is tried for a key that has expired or may not receive', async (t) => {
  const one = await rig(t)
  const keyId = await key(one, 1)
  await one.database.query(
    `insert into webhook (api_key_id, sealed, shown_url, max_connections, has_certificate, failing_since)
     values ($1, 'x', 'x', 1, false, $2)`,
    [keyId, at(0)],
  )
  const found = async () =>
    (await judge(one.database, at(6), quietLogger)).found.map(({ rule }) => rule)
  const change = (what: string, ...values: unknown[]) =>
    one.database.query(`update api_key set ${what}`, values)
  await change('expires_at = $1', at(7))
  t.same(await found(), ['webhook_failing'])
  await change('expires_at = $1', at(6))
  t.same(await found(), [])
  await change(`expires_at = null, scopes = '{bot:send}'`)
  t.same(await found(), [])
})

t.test('a bot that polls and is behind, and updates that were cut', async (t) => {
  const one = await rig(t)
  const keyId = await key(one, 1)
  const update = (id: number, minutes: number) =>
    one.database.query(
      `insert into update_log (credential_id, update_id, source_key, kind, payload, at)
       values (1, $1, $1::bigint::text, 0, '"message":{}', $2)`,
      [id, at(minutes)],
    )
  const receiver = await httpReceiver(t)
  await one.save(webhookTo(receiver.url))
  await update(7, 0)
  await one.tick(14)
  t.same(await shown(one), [])
  await one.tick(15)
  t.same(await shown(one), ['1 backlog_old backlog_old open 1'])
  // It may fetch the same again and again.
  t.match(
    receiver.received[0]?.text,
    /1 bot is behind\. Updates wait that the bot has not confirmed:/,
  )
  await one.database.query('update api_key set cursor = 7, dropped_at = $1', [at(15)])
  await one.tick(16)
  await one.tick(18)
  t.same(await shown(one), [
    '1 backlog_old backlog_old resolved 0',
    '1 updates_cut updates_cut open 1',
  ])
  const [cut] = (await one.incidents()).filter(({ rule }) => rule === 'updates_cut')
  const asked = { userId: 1, owners: [1], id: cut!.id, now: at(16), before: undefined, limit: 9 }
  t.match(await listMembers(one.database, asked), [
    { credential_id: 1, api_key_id: keyId, key_name: 'k', since: at(15) },
  ])
  t.same(await listMembers(one.database, { ...asked, userId: 2, owners: [1] }), [], 'of others')
  await one.tick(76)
  await one.tick(78)
  t.equal((await shown(one))[1], '1 updates_cut updates_cut resolved 0')
  await one.database.query('update api_key set cursor = 0, polled_at = null where id = $1', [keyId])
  await one.tick(79)
  t.equal((await shown(one)).length, 2, 'nobody polls')
})

t.test('a bot that has not polled for a day, or has a webhook, is not behind', async (t) => {
  const one = await rig(t)
  const keyId = await key(one, 1)
  await one.database.query(
    `insert into update_log (credential_id, update_id, source_key, kind, payload, at)
     values (1, 7, 'a', 0, '"message":{}', $1)`,
    [at(0)],
  )
  const found = async (minutes: number) =>
    (await judge(one.database, at(minutes), quietLogger)).found.map(({ rule }) => rule)
  t.same(await found(1_439), ['backlog_old'])
  await one.database.query('update api_key set last_used_at = $1', [at(1_440)])
  t.same(await found(1_441), [], 'it only sends')
  await one.database.query(
    `insert into webhook (api_key_id, sealed, shown_url, max_connections, has_certificate)
     values ($1, 'x', 'x', 1, false)`,
    [keyId],
  )
  t.same(await found(1_439), [])
})

t.test('a user says how long a bot may be behind', async (t) => {
  const one = await rig(t)
  await one.settings.change(1, () => ({ minutes: 5, backlogMinutes: 30, targets: {} }))
  for (const user of [1, 2]) {
    await key(one, user, user)
    await one.database.query(
      `insert into update_log (credential_id, update_id, source_key, kind, payload, at)
       values ($1, 7, 'a', 0, '"message":{}', $2)`,
      [user, at(0)],
    )
  }
  const behind = async (minutes: number) =>
    (await judge(one.database, at(minutes), quietLogger)).found
      .filter(({ rule }) => rule === 'backlog_old')
      .map(({ user_id }) => user_id)
      .toSorted()
  t.same(await behind(29), [2], 'the other one has not chosen')
  t.same(await behind(30), [1, 2])
})

t.test('what a bot wants is sought among its first ten thousand unread updates', async (t) => {
  const one = await rig(t)
  const keyId = await key(one, 1)
  await one.database.query('update api_key set filter = $2 where id = $1', [
    keyId,
    JSON.stringify([{ from: 0, kinds: 2 }]),
  ])
  await one.database.query(
    `insert into update_log (credential_id, update_id, source_key, kind, payload, at)
     select 1, n, n, case when n = 10002 then 1 else 0 end, '"message":{}', $1
       from generate_series(1, 10002) n`,
    [at(0)],
  )
  const found = async () =>
    (await judge(one.database, at(20), quietLogger)).found.map(({ rule }) => rule)
  t.same(await found(), [])
  await one.database.query('update api_key set cursor = 2 where id = $1', [keyId])
  t.same(await found(), ['backlog_old'])
})

t.test('the database counts drops that follow each other soon', async (t) => {
  const one = await rig(t)
  await key(one, 1)
  await one.database.query('alter table credential enable trigger credential_troubled')
  const state = (state: string, machineState: string) =>
    one.database.query('update credential set state = $1, machine_state = $2', [
      state,
      machineState,
    ])
  const drop = async () => {
    await state('connecting', 'waiting')
    await state('connecting', 'live.starting')
    await state('active', 'live.online')
  }
  const found = async () =>
    (await judge(one.database, new Date(), quietLogger)).found.map(({ rule }) => rule)
  for (let n = 0; n < 4; n++) await drop()
  t.notOk((await found()).includes('reconnect_loop'))
  await drop()
  t.ok((await found()).includes('reconnect_loop'))
  await one.database.query(`update credential set last_drop_at = now() - interval '16 minutes'`)
  t.notOk((await found()).includes('reconnect_loop'), 'it has lasted since')
  await one.database.query('update credential set troubled_since = last_drop_at')
  t.ok((await found()).includes('reconnect_loop'), 'it has not come back since')
  await one.database.query('update credential set troubled_since = null')
  await drop()
  const [row] = await one.database.query<{ drops: number }>('select drops from credential')
  t.equal(row?.drops, 1, 'a new count')
})

t.test(
  'operators are told of nodes, disks and the sums of all users; others are not',
  async (t) => {
    const [operator, owner] = [await httpReceiver(t), await httpReceiver(t)]
    const one = await rig(t)
    await one.save(webhookTo(operator.url))
    await one.save(webhookTo(owner.url), 5, 2)
    await one.out([1], 'network', 0, 2)
    await one.database.query(
      `insert into node (name, version, schema, state, ended_at) values ('north', '1', '1', 'gone', $1), ('south', '1', '1', 'gone', $1)`,
      [at(0)],
    )
    await one.database.query(
      `insert into node (name, version, schema, state) values ('south', '1', '1', 'up')`,
    )
    await one.database.query(`insert into node_trouble values ('south', 'disk_full', $1)`, [at(5)])
    await one.tick(5)
    t.same(await shown(one), [], 'without operators nobody would see them')
    one.operators.push(1)
    await one.tick(6)
    t.same(await shown(one), [
      '0 account_out network open 1',
      '0 disk_full south open 1',
      '0 node_lost north open 1',
    ])
    const rules = ({ received }: typeof owner) =>
      received.map(({ text }) => JSON.parse(text).data.rule).toSorted()
    t.same(rules(operator), ['account_out', 'disk_full', 'node_lost'])
    t.same(rules(owner), ['account_out'])
    await one.database.query(
      `insert into node (name, version, schema, state) values ('north', '1', '1', 'up')`,
    )
    await one.tick(9)
    await one.tick(11)
    t.same((await shown(one)).slice(1), [
      '0 disk_full south resolved 0',
      '0 node_lost north resolved 0',
    ])
    t.equal(operator.received.length, 5)
  },
)

/** What came: the type, whose it is, and how many it concerns. */
const told = ({ received }: Awaited<ReturnType<typeof httpReceiver>>) =>
  received.map(({ text }) => {
    const { type, data } = JSON.parse(text)
    return [type, data.scope, data.affected].join(' ')
  })

t.test('what is an operator’s own is seen, counted and told once', async (t) => {
  const receiver = await httpReceiver(t)
  const one = await rig(t)
  one.operators.push(1)
  await one.save(webhookTo(receiver.url))
  await one.out([1])
  await one.tick(5)
  t.same(await shown(one), ['1 account_out network open 1'])
  const counts = () => countIncidents(one.database, [1, 0])
  t.same(await counts(), { open: 1, by_rule: { account_out: 1 } })
  await one.out([2, 3], 'network', 1, 2)
  await one.tick(6)
  t.same(await shown(one), ['0 account_out network open 2', '1 account_out network open 1'])
  t.same(await counts(), { open: 2, by_rule: { account_out: 1 } })
  t.same(told(receiver), ['alert.opened own 1', 'alert.opened service 2'])
  t.match(
    JSON.parse(receiver.received[1]!.text).data.text,
    /^2 accounts are out\..* of other users,/,
  )
  const [service] = (await one.incidents()).filter(({ user_id }) => user_id === 0)
  const asked = { userId: 1, owners: [1, 0], now: at(6), before: undefined, limit: 9 }
  t.same(await listMembers(one.database, { ...asked, id: service!.id }), [], 'nobody is named')

  await one.out([4], 'network', 10)
  await one.tick(40)
  t.same(told(receiver).slice(2), ['alert.grown own 2'], 'the others are as many as before')
  await one.back([2, 3])
  await one.tick(41)
  await one.tick(43)
  await one.back([1, 4])
  await one.tick(44)
  await one.tick(46)
  t.same(told(receiver).slice(3), ['alert.resolved service 0', 'alert.resolved own 0'])
  t.same(await counts(), { open: 0, by_rule: {} })
})

t.test('an operator hears of the accounts of another one as of those of any user', async (t) => {
  const [ones, twos] = [await httpReceiver(t), await httpReceiver(t)]
  const one = await rig(t)
  one.operators.push(1, 2)
  await one.save(webhookTo(ones.url))
  await one.save(webhookTo(twos.url), 5, 2)
  await one.out([1])
  await one.tick(5)
  t.same(await shown(one), ['1 account_out network open 1'])
  const asked = { before: undefined, limit: 9 }
  t.match(await listIncidents(one.database, [2, 0], asked), [{ user_id: 0, affected: 1 }])
  // What was told of the incident is remembered as long as it lasts, though a notification is kept for 30 days.
  await one.tick(40 * 1_440)
  await one.back([1])
  await one.tick(40 * 1_440 + 1)
  t.match(await countIncidents(one.database, [1, 0]), { open: 1 }, 'also while it is about to end')
  t.match(await countIncidents(one.database, [2, 0]), { open: 1 })
  await one.tick(40 * 1_440 + 3)
  t.same(told(ones), ['alert.opened own 1', 'alert.resolved own 0'])
  t.same(told(twos), ['alert.opened service 1', 'alert.resolved service 0'])
  t.same(await shown(one), ['1 account_out network resolved 0'], 'once, also afterwards')
  t.match(await listIncidents(one.database, [2, 0], asked), [{ user_id: 0, state: 'resolved' }])
})

t.test('an operator goes on seeing an incident in which others were for a while', async (t) => {
  const one = await rig(t)
  one.operators.push(1, 2)
  await one.out([1])
  await one.tick(5)
  await one.out([2], 'network', 5, 3)
  await one.tick(10)
  await one.back([2])
  await one.tick(11)
  await one.tick(13)
  await one.back([1])
  await one.tick(14)
  await one.tick(16)
  t.same(await shown(one), ['0 account_out network resolved 0', '1 account_out network resolved 0'])
})

t.test('a rule that cannot be judged changes nothing', async (t) => {
  const one = await rig(t)
  await one.database.query(
    `insert into node (name, version, schema, state, ended_at) values ('north', '1', '1', 'gone', $1)`,
    [at(0)],
  )
  one.operators.push(1)
  await one.tick(1)
  await one.database.query('alter table node rename to node_elsewhere')
  await one.out([1], 'network', 1)
  await one.tick(6)
  await one.tick(10)
  t.same(await shown(one), ['0 node_lost north open 1', '1 account_out network open 1'])
})

t.test('a node notes a full disk, and that it has room again', async (t) => {
  const { database } = await rig(t)
  const rows = () => database.query('select node, rule from node_trouble')
  await noteDisk(database, 'here', true)
  await noteDisk(database, 'here', true)
  t.same(await rows(), [{ node: 'here', rule: 'disk_full' }])
  await noteDisk(database, 'here', false)
  t.same(await rows(), [])
})

t.test(
  'an operator is a user with one of the phones, and acknowledges for the service',
  async (t) => {
    const env = { OPERATOR_PHONES: '+14155558001, +14155558002' }
    const service = await startService(t, { env })
    const operator = await service.client('+14155558002')
    const other = await service.client('+14155558003')
    const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
    t.teardown(() => database.close())
    await database.query(
      `insert into incident (user_id, rule, subject, state, affected, opened_at)
     values (0, 'node_lost', 'north', 'open', 1, now())`,
    )
    const { items } = await operator.result('GET', '/alerts')
    t.match(items, [{ scope: 'service', rule: 'node_lost', subject: 'north' }])
    t.same((await other.result('GET', '/alerts')).items, [])
    const path = `/alerts/${items[0].incident_id}/acknowledge`
    t.match(await other.ask('POST', path), { status: 404 })
    t.match(await operator.result('POST', path), { state: 'acknowledged' })
  },
)
