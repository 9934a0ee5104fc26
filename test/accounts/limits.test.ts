/** Limits of sign-in: resending, caps by phone, network, country and in all, and locks after failures. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Accounts } from '../../src/accounts/accounts.ts'
import { networksOf } from '../../src/accounts/client.ts'
import { defaultOtpLimits } from '../../src/accounts/limits.ts'
import { accountsRig, client, failureOf, newPhone, noLimits, wrong } from '../support/accounts.ts'

/** The seconds to wait, or 0 when it went through. */
const wait = async (attempt: Promise<unknown>) => {
  const failure = await failureOf(attempt)
  return failure ? (failure.retryAfterSeconds ?? failure.code) : 0
}

let networks = 0
const elsewhere = () => ({ ip: `198.51.${networks >> 8}.${networks++ & 255}` })
const send = (accounts: Accounts, phone: string, from = elsewhere()) =>
  wait(accounts.sendOtp(phone, from))

t.test('another code may follow after 60, 120 and 300 seconds, five in a day', async (t) => {
  const { accounts, advance } = await accountsRig(t)
  const phone = newPhone()
  t.equal((await accounts.sendOtp(phone, elsewhere())).resendIn, 60)
  t.equal(await send(accounts, phone), 60)
  advance(59)
  t.equal(await send(accounts, phone), 1)
  advance(1)
  t.equal((await accounts.sendOtp(phone, elsewhere())).resendIn, 120)
  advance(119)
  t.equal(await send(accounts, phone), 1)
  advance(1)
  t.equal((await accounts.sendOtp(phone, elsewhere())).resendIn, 300)
  advance(300)
  t.equal(await send(accounts, phone), 120, 'three within ten minutes')
  advance(120)
  t.equal(await send(accounts, phone), 0)
  advance(3_000)
  t.equal(await send(accounts, phone), 0)
  advance(3_000)
  t.equal(await send(accounts, phone), 86_400 - 3_000 - 3_000 - 600, 'five a day')
  t.equal(await send(accounts, newPhone()), 0)
})

t.test('concurrent requests for one phone send one code', async (t) => {
  const { accounts, messages } = await accountsRig(t)
  const phone = newPhone()
  const waits = await Promise.all(Array.from({ length: 20 }, () => send(accounts, phone)))
  t.equal(waits.filter((seconds) => seconds === 0).length, 1)
  t.equal(messages.length, 1)
})

t.test('a network may have ten codes an hour, and other networks their own', async (t) => {
  const { accounts, advance, messages } = await accountsRig(t)
  for (let sent = 0; sent < 10; sent++) t.equal(await send(accounts, newPhone(), client), 0)
  t.equal(await send(accounts, newPhone(), client), 3_600)
  t.equal(await send(accounts, newPhone()), 0)
  advance(3_600)
  t.equal(await send(accounts, newPhone(), client), 0)
  t.equal(messages.length, 12)
})

t.test('IPv6 counts by /64, and the /48 around it four times as much', async (t) => {
  t.same(networksOf('2001:db8:1:2:3:4:5:6'), { narrow: '2001:db8:1:2/64', wide: '2001:db8:1/48' })
  t.same(networksOf('2001:0db8:0001::1'), { narrow: '2001:db8:1:0/64', wide: '2001:db8:1/48' })
  t.same(networksOf('::1'), { narrow: '0:0:0:0/64', wide: '0:0:0/48' })
  t.same(networksOf('fe80::1%eth0'), { narrow: 'fe80:0:0:0/64', wide: 'fe80:0:0/48' })
  t.same(networksOf('::ffff:192.0.2.1'), { narrow: '192.0.2.1' })

  const { accounts } = await accountsRig(t)
  let sent = 0
  for (let subnet = 0; subnet < 5; subnet++) {
    for (let host = 0; host < 11; host++) {
      const from = { ip: `2001:db8:1:${subnet}::${host}` }
      if ((await send(accounts, newPhone(), from)) === 0) sent++
    }
  }
  t.equal(sent, 40)
})

t.test('they are what the README says', async (t) => {
  const { sendsPerPhone, sendBurstPerPhone, resendDelays, ...all } = defaultOtpLimits
  const { sendsPerNetwork, sendsPerCountry, sendsInAll, triesPerNetwork, failuresInAll } = all
  const anHour = [sendsPerNetwork, sendsPerCountry, sendsInAll]
  const seconds = [...anHour, triesPerNetwork, sendBurstPerPhone, sendsPerPhone].map(
    ({ seconds }) => seconds,
  )
  t.same(seconds, [3_600, 3_600, 3_600, 3_600, 600, 86_400])
  const [sent, burst, ...counts] = [sendsPerPhone, sendBurstPerPhone, ...anHour].map(({ count }) =>
    count.toLocaleString('en-US'),
  )
  const ends = [
    `| ${sent} a day, ${burst} in ten minutes, ${resendDelays.join(', ')} s apart |`,
    `| ${counts.join('; ')} an hour |`,
    `| ${all.triesPerCode} |`,
    `| ${triesPerNetwork.count} an hour |`,
    `| ${all.failuresBeforeLock} |`,
    `| ${failuresInAll} |`,
  ]
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  const [, section = ''] = readme.split('### Limits of sign-in\n')
  const rows = section.split('\n').filter((line) => line.startsWith('| '))
  t.same(
    rows.slice(1, 1 + ends.length).map((row, at) => row.endsWith(ends[at] ?? '')),
    ends.map(() => true),
    ends.join('\n'),
  )
})

t.test('a refused code counts nowhere', async (t) => {
  const { accounts } = await accountsRig(t, {
    limits: { ...noLimits, sendsInAll: { count: 1, seconds: 60 } },
  })
  const phone = newPhone()
  t.equal(await send(accounts, newPhone()), 0)
  for (let again = 0; again < 10; again++) t.equal(await send(accounts, phone), 60)
  const { database, accounts: other } = await accountsRig(t)
  t.equal(await send(other, phone), 0)
  const [row] = await database.query<{ uses: Date[] }>(
    "select uses from quota where key like 'send:day:%'",
  )
  t.equal(row!.uses.length, 1)
})

t.test('spending caps hold by country and in all, and raise an alarm', async (t) => {
  const alarms: object[] = []
  const logger = { info() {}, warn() {}, error: (fields: object) => void alarms.push(fields) }
  const { accounts } = await accountsRig(t, {
    logger,
    limits: { sendsPerCountry: { count: 3, seconds: 60 }, sendsInAll: { count: 4, seconds: 60 } },
  })
  const countries = [newPhone(), newPhone(), newPhone(), newPhone()]
  for (const phone of countries) await send(accounts, phone)
  t.same(alarms, [{ alarm: 'otp_cap', scope: '+98' }])
  t.equal(await send(accounts, '+14155550123'), 0)
  t.equal(await send(accounts, '+4915112345678'), 60)
  t.same(alarms.at(-1), { alarm: 'otp_cap', scope: 'all' })
})

t.test('a network may try thirty codes an hour', async (t) => {
  const { accounts } = await accountsRig(t)
  for (let tried = 0; tried < 30; tried++) {
    t.equal(await wait(accounts.login(newPhone(), '000000', client)), 'unauthorized')
  }
  t.equal(await wait(accounts.login(newPhone(), '000000', client)), 3_600)
})

t.test('ten wrong codes in a row lock the phone, longer with every further one', async (t) => {
  const { accounts, codeFor, advance } = await accountsRig(t, { limits: noLimits })
  const phone = newPhone()
  const guess = async (right = false) => {
    const code = codeFor(phone)
    return await wait(accounts.login(phone, right ? code : wrong(code), client))
  }
  for (let tried = 0; tried < 10; tried++) {
    if (tried % 5 === 0) await accounts.sendOtp(phone, client)
    t.equal(await guess(), 'unauthorized')
  }
  for (const minutes of [15, 30, 60, 120]) {
    await accounts.sendOtp(phone, client)
    t.equal(await guess(true), minutes * 60, `${minutes} minutes`)
    advance(minutes * 60)
    await accounts.sendOtp(phone, client)
    t.equal(await guess(), 'unauthorized')
  }
  advance(240 * 60)
  await accounts.sendOtp(phone, client)
  t.equal(await guess(true), 0, 'the right code opens it')
  await accounts.sendOtp(phone, client)
  t.equal(await guess(), 'unauthorized', 'and failures count from zero again')
  t.equal(await guess(true), 0)
})

t.test('a lock is never longer than a day, and a hundred failures are the end', async (t) => {
  const { accounts, codeFor, database, advance } = await accountsRig(t, { limits: noLimits })
  const phone = newPhone()
  await accounts.sendOtp(phone, client)
  await wait(accounts.login(phone, wrong(codeFor(phone)), client))
  await database.query('update otp_failures set failures = 98')
  t.equal(await wait(accounts.login(phone, wrong(codeFor(phone)), client)), 'unauthorized')
  t.equal(await wait(accounts.login(phone, codeFor(phone), client)), 86_400)
  advance(86_400)
  await accounts.sendOtp(phone, client)
  await wait(accounts.login(phone, wrong(codeFor(phone)), client))
  advance(10 * 86_400)
  await accounts.sendOtp(phone, client)
  t.equal(await wait(accounts.login(phone, codeFor(phone), client)), 'forbidden')
})
