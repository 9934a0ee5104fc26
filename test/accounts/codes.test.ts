/** One-time codes: few tries, one use, a short life, and the same answer for everybody. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { OtpSender } from '../../src/accounts/senders/sender.ts'
import type { JobHandler } from '../../src/jobs/jobs.ts'
import {
  accountsRig,
  client,
  failureOf,
  inlineJobs,
  newPhone,
  noLimits,
  wrong,
} from '../support/accounts.ts'
import { until } from '../support/client.ts'

const wrongCode = { code: 'unauthorized', description: 'the code is wrong' }

t.test('the first sign-in creates the account, the next one finds it', async (t) => {
  const { signIn } = await accountsRig(t, { limits: noLimits })
  const phone = newPhone()
  const first = await signIn(phone)
  const second = await signIn(phone)
  t.equal(first.user.phone, phone)
  t.equal(first.user.id, second.user.id)
  t.not((await signIn()).user.id, first.user.id)
})

t.test('every spelling of a number is the same number', async (t) => {
  const { accounts, codeFor } = await accountsRig(t)
  const sent = await accounts.sendOtp('+98 (912) 123-45 67', client)
  t.equal(sent.phone, '+989121234567')
  const { user } = await accounts.login('+۹۸۹۱۲۱۲۳۴۵۶۷', codeFor('+989121234567'), client)
  t.equal(user.phone, '+989121234567')
})

t.test('numbers that nobody can receive a code on are refused', async (t) => {
  const { accounts, messages } = await accountsRig(t)
  const bad = ['', '1', '+', '09121234567', '+98912', '+19005550100', '+989121234567;ext=3', 'x']
  for (const phone of bad) {
    t.match(await failureOf(accounts.sendOtp(phone, client)), { code: 'bad_request' }, phone)
    t.match(await failureOf(accounts.login(phone, '123456', client)), { code: 'bad_request' })
  }
  t.same(messages, [])
})

t.test('of 200 guesses at once at most five are compared, then the code is dead', async (t) => {
  const { accounts, database, codeFor } = await accountsRig(t, { limits: noLimits })
  for (let round = 0; round < 5; round++) {
    const phone = newPhone()
    await accounts.sendOtp(phone, client)
    const guesses: string[] = Array(200).fill(wrong(codeFor(phone)))
    const right = Math.floor(Math.random() * guesses.length)
    guesses[right] = codeFor(phone)
    const results = await Promise.allSettled(
      guesses.map((guess) => accounts.login(phone, guess, client)),
    )
    const winners = results.filter(({ status }) => status === 'fulfilled').length
    t.ok(winners <= 1)
    t.equal(results[right]!.status === 'fulfilled' ? 1 : 0, winners)
    if (winners === 1) continue
    const [challenge] = await database.query<{ tries: number }>(
      'select tries from otp_challenge order by created_at desc, expires_at desc limit 1',
    )
    t.equal(challenge!.tries, 5)
    t.match(await failureOf(accounts.login(phone, codeFor(phone), client)), {
      description: /^the code was tried too often; request a new one$/,
    })
  }
})

t.test('of 100 uses of the right code at once one signs in', async (t) => {
  const { accounts, database, codeFor } = await accountsRig(t, { limits: noLimits })
  const phone = newPhone()
  await accounts.sendOtp(phone, client)
  const code = codeFor(phone)
  const results = await Promise.allSettled(
    Array.from({ length: 100 }, () => accounts.login(phone, code, client)),
  )
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  t.equal((await database.query('select from user_session')).length, 1)
  t.match(await failureOf(accounts.login(phone, code, client)), wrongCode)
})

t.test('a new code voids the old one', async (t) => {
  const { accounts, codeFor } = await accountsRig(t, { limits: noLimits })
  const phone = newPhone()
  await accounts.sendOtp(phone, client)
  const old = codeFor(phone)
  await accounts.sendOtp(phone, client)
  if (old !== codeFor(phone))
    t.match(await failureOf(accounts.login(phone, old, client)), wrongCode)
  t.ok(await accounts.login(phone, codeFor(phone), client))
})

t.test('a code is good for its own phone only', async (t) => {
  const { accounts, codeFor } = await accountsRig(t)
  const [mine, theirs] = [newPhone(), newPhone()]
  await accounts.sendOtp(mine, client)
  await accounts.sendOtp(theirs, client)
  if (codeFor(mine) !== codeFor(theirs)) {
    t.match(await failureOf(accounts.login(theirs, codeFor(mine), client)), wrongCode)
  }
  t.match(await failureOf(accounts.login(newPhone(), codeFor(mine), client)), wrongCode)
})

t.test('a code lives five minutes, to the second', async (t) => {
  const { accounts, codeFor, advance } = await accountsRig(t)
  const [early, late] = [newPhone(), newPhone()]
  await accounts.sendOtp(early, client)
  await accounts.sendOtp(late, client)
  advance(299)
  t.ok(await accounts.login(early, codeFor(early), client))
  advance(1)
  t.match(await failureOf(accounts.login(late, codeFor(late), client)), {
    code: 'unauthorized',
    description: 'the code has expired',
  })
})

t.test('known and unknown phones get the same answers', async (t) => {
  const { accounts, signIn } = await accountsRig(t, { limits: noLimits })
  const known = newPhone()
  await signIn(known)
  const unknown = newPhone()
  const answers = []
  for (const phone of [known, unknown]) {
    const before = await failureOf(accounts.login(phone, '000000', client))
    const { phone: _, challengeId, ...sent } = await accounts.sendOtp(phone, client)
    const after = await failureOf(accounts.login(phone, '000000', client))
    answers.push({ before, sent, after, challengeId: challengeId.length })
  }
  t.same(answers[0], answers[1])
})

t.test('neither code nor phone is in the database in clear text', async (t) => {
  const { accounts, database, codeFor } = await accountsRig(t)
  const phone = newPhone()
  await accounts.sendOtp(phone, client)
  const code = codeFor(phone)
  const rows = await database.query(
    'select row_to_json(c)::text as text from otp_challenge c union all select row_to_json(q)::text from quota q',
  )
  t.equal(rows.length > 3, true)
  const dump = JSON.stringify(rows)
  for (const secret of [code, phone, phone.slice(1), Buffer.from(phone).toString('hex')]) {
    t.notOk(dump.includes(secret), secret)
  }
})

t.test('a job that the queue hands over twice sends its code once, and no other', async (t) => {
  const { jobs } = inlineJobs()
  async function sendCode(id: string) {
    await jobs.sendCode(id)
    await jobs.sendCode(id)
  }
  const { accounts, codeFor, messages } = await accountsRig(t, { jobs: { ...jobs, sendCode } })
  const phones = [newPhone(), newPhone()]
  for (const phone of phones) await accounts.sendOtp(phone, client)
  t.same(
    messages.map(({ phone }) => phone),
    phones,
  )
  for (const phone of phones) t.ok(await accounts.login(phone, codeFor(phone), client))
})

t.test('a job and the way past the queue send a code once, whichever is first', async (t) => {
  const sending: PromiseWithResolvers<void>[] = []
  const sender: OtpSender = {
    channel: 'sms',
    send: () => {
      sending.push(Promise.withResolvers())
      return sending.at(-1)?.promise ?? Promise.resolve()
    },
    close: async () => undefined,
  }
  const { jobs } = inlineJobs()
  let deliver: JobHandler = async () => undefined
  const asked: string[] = []
  const onSendCode = (handler: JobHandler) => {
    deliver = handler
  }
  const sendCode = async (id: string) => void asked.push(id)
  const rig = await accountsRig(t, { sender, jobs: { ...jobs, onSendCode, sendCode } })
  const ask = async () => {
    await rig.accounts.sendOtp(newPhone(), client)
    return asked.at(-1) ?? ''
  }
  const limit = () => AbortSignal.timeout(5_000)

  const taken = await ask()
  const both = Promise.all([deliver(taken, limit()), deliver(taken, limit())])
  await until(() => sending.length > 0)
  await pause(600)
  t.equal(sending.length, 1, 'the second one waits')
  sending[0]?.resolve()
  await both
  await deliver(taken, limit())
  t.equal(sending.length, 1)

  const refused = await ask()
  const first = deliver(refused, limit())
  await until(() => sending.length === 2)
  const second = deliver(refused, limit())
  sending[1]?.reject(new Error('refused'))
  await t.rejects(first, { message: 'refused' })
  await until(() => sending.length === 3)
  sending[2]?.resolve()
  await second
  t.equal(sending.length, 3, 'where the first one fails, the second one sends')

  const killed = await ask()
  void deliver(killed, limit())
  await until(() => sending.length === 4)
  await t.rejects(deliver(killed, AbortSignal.timeout(700)), { name: 'TimeoutError' })
  rig.advance(60)
  const after = deliver(killed, limit())
  await until(() => sending.length === 5)
  sending[4]?.resolve()
  await after
})
