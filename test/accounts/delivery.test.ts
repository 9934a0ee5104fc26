/** Codes on their way through the queue: retried, not kept in clear text, wiped once sent, never sent late. */
import t, { type Test } from 'tap'
import type { CodeMessage, OtpSender } from '../../src/accounts/senders/sender.ts'
import { createJobs, type Jobs, PermanentFailure } from '../../src/jobs/jobs.ts'
import { accountsRig, client, newPhone } from '../support/accounts.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'

/** A sender that fails as often as it is told to. */
function shakySender(failures: readonly Error[]) {
  const left = [...failures]
  const attempts: CodeMessage[] = []
  const sent = Promise.withResolvers<CodeMessage>()
  const sender: OtpSender = {
    channel: 'sms',
    async send(message) {
      attempts.push(message)
      const failure = left.shift()
      if (failure) throw failure
      sent.resolve(message)
    },
    close: async () => undefined,
  }
  return { sender, attempts, sent: sent.promise }
}

async function queue(t: Test) {
  const { url, database } = await testDatabase(t)
  const jobs = await createJobs({ databaseUrl: url, logger: quietLogger })
  t.teardown(() => jobs.close())
  return { jobs, database }
}

t.test('a code is sent although the provider fails at first', async (t) => {
  const { jobs } = await queue(t)
  const { sender, attempts, sent } = shakySender([new Error('the SMS provider answered 500')])
  const { accounts } = await accountsRig(t, { jobs, sender })
  jobs.start()
  const phone = newPhone()
  t.equal((await accounts.sendOtp(phone, client)).channel, 'sms')
  const { code, text } = await sent
  t.equal(attempts.length, 2)
  t.match(code, /^\d{8}$/, 'eight digits by SMS')
  t.ok(text.includes(code))
  t.ok(text.endsWith(`\n\n@chapar.example #${code}`), 'bound to the site')
  t.ok(await accounts.login(phone, code, client))
})

t.test('the queue never holds a code or a phone, and what is sent is wiped', async (t) => {
  const { jobs, database: queueDatabase } = await queue(t)
  const { sender, sent } = shakySender([new Error('not now')])
  const { accounts, database } = await accountsRig(t, { jobs, sender })
  const phone = newPhone()
  await accounts.sendOtp(phone, client)
  const waiting = JSON.stringify(await queueDatabase.query('select j::text from bullmq.job j'))
  t.match(waiting, /one-time-codes/)
  jobs.start()
  const { code } = await sent
  for (const secret of [code, phone.slice(1)]) t.notOk(waiting.includes(secret))
  const sealed = 'select message_sealed is null as wiped from otp_challenge'
  let [row] = await database.query<{ wiped: boolean }>(sealed)
  while (!row!.wiped) [row] = await database.query<{ wiped: boolean }>(sealed)
  t.pass('wiped')
})

t.test('a refused code is not tried again', async (t) => {
  const { jobs } = await queue(t)
  const { sender, attempts, sent } = shakySender([new PermanentFailure('no such number')])
  const { accounts } = await accountsRig(t, { jobs, sender })
  jobs.start()
  await accounts.sendOtp(newPhone(), { ip: '192.0.2.7' })
  await accounts.sendOtp(newPhone(), { ip: '192.0.2.8' })
  await sent
  t.equal(attempts.length, 2)
  t.not(attempts[0]!.phone, attempts[1]!.phone)
})

t.test(
  'what waited in a lost queue is sent after a restart or when the queue is back, unless it is too late',
  async (t) => {
    const listeners: (() => void)[] = []
    const lost: Jobs = {
      sendCode: async () => undefined,
      onSendCode: () => undefined,
      remind: async () => undefined,
      onReminder: () => undefined,
      onBack: (listener) => void listeners.push(listener),
      trouble: () => null,
      start: () => undefined,
      close: async () => undefined,
    }
    const { accounts, advance, database } = await accountsRig(t, { jobs: lost })
    const [late, current] = [newPhone(), newPhone()]
    await accounts.sendOtp(late, client)
    advance(200)
    await accounts.sendOtp(current, client)
    advance(150)
    const asked: string[] = []
    lost.sendCode = async (id) => void asked.push(id)
    // The service before the restart listens no more.
    listeners.length = 0
    await accounts.start()
    const [{ id } = { id: '' }] = await database.query<{ id: string }>(
      'select id from otp_challenge order by created_at desc limit 1',
    )
    t.same(asked, [id])
    for (const listener of listeners) listener()
    await until(() => asked.length === 2)
    t.same(asked, [id, id])
  },
)
