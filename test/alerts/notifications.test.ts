/** What is told of incidents: once each, in order, until it arrives or a day is over; on a simulated clock, to real receivers. */
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import { changeIncident } from '../../src/alerts/incidents.ts'
import { claimDue, tellForTest } from '../../src/alerts/outbox.ts'
import { createGuardedAgent } from '../../src/net/guard.ts'
import { openMailer } from '../../src/net/mail.ts'
import { httpReceiver } from '../support/http-receiver.ts'
import { mailServer } from '../support/mail-server.ts'
import { MINUTE, rig, start, webhookTo } from './rig.ts'

const typesOf = (received: readonly { text: string }[]) =>
  received.map(({ text }) => JSON.parse(text).type)

t.test('the beginning and the end are told once each, signed', async (t) => {
  const receiver = await httpReceiver(t)
  const { save, out, back, tick } = await rig(t)
  const targets = webhookTo(receiver.url)
  await save(targets)
  await out([1, 2])
  await tick(4)
  t.same(receiver.received, [], 'too short')
  for (const minute of [5, 6, 7]) await tick(minute)
  t.same(typesOf(receiver.received), ['alert.opened'])
  await back([1, 2])
  for (const minute of [8, 9, 10, 11]) await tick(minute)
  t.same(typesOf(receiver.received), ['alert.opened', 'alert.resolved'])

  const [opened, resolved] = receiver.received
  const secret = targets.webhook?.signing.secret ?? ''
  // The library compares the time of the signature with the clock of the machine.
  t.throws(() => new Webhook(secret).verify(opened!.text, opened!.headers), /too old/)
  const signed = new Webhook(secret).sign(
    opened!.headers['webhook-id']!,
    new Date(start + 5 * MINUTE),
    opened!.text,
  )
  t.equal(opened!.headers['webhook-signature'], signed)
  t.match(JSON.parse(opened!.text), {
    type: 'alert.opened',
    timestamp: '2026-01-01T00:05:00.000Z',
    data: {
      scope: 'own',
      rule: 'account_out',
      subject: 'network',
      affected: 2,
      resolved_at: null,
      url: 'https://panel.test/dashboard/alerts',
    },
  })
  t.match(JSON.parse(resolved!.text).data, { resolved_at: '2026-01-01T00:10:00.000Z' })
  t.not(opened!.headers['webhook-id'], resolved!.headers['webhook-id'])
})

t.test('an incident that grows is told again every 30 minutes at most', async (t) => {
  const receiver = await httpReceiver(t)
  const { save, out, tick } = await rig(t)
  await save(webhookTo(receiver.url))
  await out([1])
  await tick(5)
  await out([2, 3], 'network', 1)
  await tick(6)
  await out([4], 'network', 10)
  await tick(34)
  t.equal(receiver.received.length, 1)
  await tick(35)
  t.same(
    receiver.received.map(({ text }) => [JSON.parse(text).type, JSON.parse(text).data.affected]),
    [
      ['alert.opened', 1],
      ['alert.grown', 4],
    ],
  )
  await tick(120)
  t.equal(receiver.received.length, 2, 'it has not grown since')
})

t.test('an account whose reason changes stays in its incident', async (t) => {
  const { out, tick, database, incidents, back } = await rig(t)
  await out([1, 2])
  await tick(5)
  await database.query(`update credential set reason = 'server_error' where id = 1`)
  await tick(6)
  const shown = async () =>
    (await incidents()).map(({ subject, state, affected }) => `${subject} ${state} ${affected}`)
  t.same(await shown(), ['network open 2'])
  await out([3], 'server_error', 1)
  await tick(7)
  t.same(await shown(), ['server_error open 1', 'network open 2'])
  await back([1, 2])
  await tick(8)
  await tick(10)
  t.same(await shown(), ['server_error open 1', 'network resolved 0'])
  await database.query('delete from credential where id = 3')
  await tick(11)
  await tick(13)
  t.same(await shown(), ['server_error resolved 0', 'network resolved 0'])
})

t.test(
  'what is acknowledged or silenced is not told again, and a silent end is no news',
  async (t) => {
    const receiver = await httpReceiver(t)
    const { save, out, tick, incidents, database, back } = await rig(t)
    await save(webhookTo(receiver.url))
    await out([1])
    await out([2], 'account_banned')
    await tick(5)
    t.equal(receiver.received.length, 2)
    const ids = Object.fromEntries((await incidents()).map(({ subject, id }) => [subject, id]))
    await changeIncident(
      database,
      { owners: [1], id: ids.network! },
      { type: 'incident.acknowledge' },
    )
    const silence = { type: 'incident.silence' } as const
    const until = new Date(start + 1_000 * MINUTE)
    await changeIncident(database, { owners: [1], id: ids.account_banned! }, silence, until)
    await out([3], 'network', 1)
    await out([4], 'account_banned', 1)
    await tick(60)
    t.equal(receiver.received.length, 2)
    await back([1, 2, 3, 4])
    await tick(61)
    await tick(63)
    t.same(typesOf(receiver.received), ['alert.opened', 'alert.opened', 'alert.resolved'])
    t.equal(JSON.parse(receiver.received[2]!.text).data.subject, 'network')
  },
)

t.test('a receiver that fails is tried again, in order, for a day; then it is lost', async (t) => {
  const receiver = await httpReceiver(t)
  receiver.status = 503
  const { save, out, back, tick, at, notifier, notifications } = await rig(t)
  await save(webhookTo(receiver.url))
  await out([1])
  await tick(5)
  await back([1])
  await tick(6)
  await tick(8)
  t.same(
    (await notifications()).map(({ event, state }) => [event, state]),
    [
      ['resolved', 'waiting'],
      ['opened', 'waiting'],
    ],
  )
  t.same(
    [...new Set(typesOf(receiver.received))],
    ['alert.opened'],
    'the end waits for its beginning',
  )
  t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  for (let minute = 9; minute < 5 + 1_440; minute += 10) {
    at(minute)
    await notifier.sendDue()
  }
  const tried = receiver.received.length
  t.ok(tried > 20 && tried < 60, `${tried} attempts`)
  at(5 + 1_440)
  await notifier.sendDue()
  const [resolved, opened] = await notifications()
  t.match(opened, {
    state: 'lost',
    code: 'webhook_failed',
    detail: 'Wrong response from the webhook: 503',
  })
  t.match(resolved, { state: 'waiting' })
  receiver.status = 200
  at(5 + 1_441)
  await notifier.sendDue()
  t.match(await notifications(), [{ state: 'sent' }, { state: 'lost' }])
})

t.test('a redirect is not followed, and a receiver that hangs is left in time', async (t) => {
  const other = await httpReceiver(t)
  const receiver = await httpReceiver(t)
  const { save, database, at, notifier, notifications } = await rig(t, { timeoutMs: 200 })
  await save(webhookTo(receiver.url))
  receiver.status = 302
  receiver.headers = { location: other.url }
  await tellForTest(database, 1, 'webhook', new Date(start))
  await notifier.sendDue()
  t.match(await notifications(), [
    { state: 'lost', detail: 'Wrong response from the webhook: 302' },
  ])
  t.same(other.received, [])
  receiver.hangs = true
  at(1)
  await tellForTest(database, 1, 'webhook', new Date(start))
  await notifier.sendDue()
  t.match(await notifications(), [{ state: 'lost', detail: 'Read timeout expired' }, {}])
})

t.test('an address of this network is refused where it must be public', async (t) => {
  const receiver = await httpReceiver(t)
  const agent = createGuardedAgent({ allowPrivate: false })
  t.teardown(() => agent.destroy())
  const { save, database, notifier, notifications } = await rig(t, { agent })
  await save(webhookTo(receiver.url))
  await tellForTest(database, 1, 'webhook', new Date(start))
  await notifier.sendDue()
  t.match(await notifications(), [{ state: 'lost', detail: 'IP address is reserved' }])
  t.same(receiver.received, [])
})

t.test(
  'of two nodes one sends, and what a killed one had taken the other sends later',
  async (t) => {
    const receiver = await httpReceiver(t)
    const { save, out, at, evaluate, node, notifier, database } = await rig(t)
    await save(webhookTo(receiver.url))
    await out([1])
    at(5)
    await evaluate()
    await Promise.all([notifier.sendDue(), node().sendDue(), node().sendDue()])
    t.equal(receiver.received.length, 1)

    await out([2], 'account_banned')
    at(6)
    await evaluate()
    // This one is killed before it sends.
    const taken = await claimDue(database, {
      now: new Date(start + 6 * MINUTE),
      incarnation: 9,
      limit: 20,
    })
    t.equal(taken.length, 1)
    await notifier.sendDue()
    t.equal(receiver.received.length, 1, 'it may still be sending')
    at(8)
    await notifier.sendDue()
    t.equal(receiver.received.length, 2)
  },
)

t.test('a node that stops gives back what it was sending', async (t) => {
  const receiver = await httpReceiver(t)
  receiver.hangs = true
  const { save, database, node, notifier, notifications } = await rig(t, { timeoutMs: 20_000 })
  await save(webhookTo(receiver.url))
  await tellForTest(database, 1, 'webhook', new Date(start))
  const stopping = node()
  stopping.poke()
  await receiver.count(1)
  await stopping.stop()
  t.match(await notifications(), [{ state: 'waiting', attempts: 0 }])
  receiver.hangs = false
  await notifier.sendDue()
  t.match(await notifications(), [{ state: 'sent', attempts: 1 }])
})

t.test('mail has the words, and a final refusal is lost at once', async (t) => {
  const isRefused = (address: { address: string }) => address.address.startsWith('nobody')
  const { mails, url } = await mailServer(t, {
    onRcptTo: (address, _, done) =>
      done(isRefused(address) ? Object.assign(new Error('no'), { responseCode: 550 }) : undefined),
  })
  const mailer = openMailer(url, 2_000)
  t.teardown(() => mailer.close())
  const mail = { url, from: 'Chapar <alerts@example.com>', mailer }
  const { save, out, tick, back, notifications } = await rig(t, { mail })
  await save({ email: 'ada@example.com' })
  await save({ email: 'nobody@example.com' }, 5, 2)
  await out([1, 2])
  await out([3], 'network', 0, 2)
  await tick(5)
  await back([1, 2])
  await tick(6)
  await tick(8)
  t.match(mails, [
    { from: 'alerts@example.com', to: ['ada@example.com'] },
    { to: ['ada@example.com'] },
  ])
  t.match(mails[0]!.source, /^Subject: Chapar: 2 accounts are out\r$/m)
  t.match(mails[0]!.source.replaceAll('=\r\n', ''), /The platform cannot be reached/)
  t.match(mails[0]!.source, 'https://panel.test/dashboard/alerts')
  t.match(mails[1]!.source, /^Subject: Chapar: resolved, each account is back, or was /m)
  t.match(await notifications(2), [
    {
      state: 'lost',
      attempts: 1,
      code: 'mail_failed',
      detail: 'the mail server did not take the message: 550',
    },
  ])
})

t.test('a chat is left to the node that owns its account', async (t) => {
  const found: number[] = []
  const keys = {
    find: async (id: number): Promise<ApiKeyActor> => {
      found.push(id)
      throw new Error('as far as this test goes')
    },
  }
  const { save, out, at, evaluate, notifier, database, notifications } = await rig(t, { keys })
  await out([7], 'account_banned')
  await database.query(
    `insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor)
     overriding system value values (100001, 1, 7, 'k', '{bot:send}', 'x', 'x', 0)`,
  )
  await database.query(
    'insert into credential_log (credential_id, owner, next_update_id) values (7, 2, 1)',
  )
  await save({ chat: { apiKeyId: 100_001, chatId: '5' } })
  at(5)
  await evaluate()
  await notifier.sendDue()
  t.same(found, [], 'another one owns it')
  await database.query('update credential_log set owner = 1')
  await notifier.sendDue()
  t.same(found, [100_001])
  t.match(await notifications(), [{ state: 'waiting', attempts: 1, code: 'internal' }])
})

t.test('each user has a patience of their own, and hears of their own accounts only', async (t) => {
  const [ones, twos] = [await httpReceiver(t), await httpReceiver(t)]
  const { save, out, tick, database, notifications } = await rig(t)
  await save(webhookTo(ones.url), 1)
  await save(webhookTo(twos.url), 60, 2)
  await out([1])
  await out([2], 'network', 0, 2)
  await tick(1)
  t.same([ones.received.length, twos.received.length], [1, 0])
  await tick(59)
  t.equal(twos.received.length, 0)
  await tick(60)
  t.equal(twos.received.length, 1)
  const [row] = await database.query<{ sealed: Buffer }>('select sealed from alert_setting limit 1')
  t.notOk(row!.sealed.includes('http'), 'addresses are sealed')
  await tellForTest(database, 2, 'webhook', new Date(start))
  await save({}, 60, 2)
  t.same(
    (await notifications(2)).map(({ state }) => state),
    ['sent'],
    'what waited is dropped',
  )
})
