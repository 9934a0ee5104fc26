/** Strangers do not lock anybody out: their codes, their wrong tries and their network's figures are their own. */
import t from 'tap'
import { tidy } from '../../src/accounts/accounts.ts'
import { unlock } from '../../src/accounts/tries.ts'
import { accountsRig, client, failureOf, newPhone, noLimits, wrong } from '../support/accounts.ts'

const owner = { ip: '192.0.2.7' }
const stranger = { ip: '203.0.113.9' }
const moved = { ip: '198.51.100.3' }
type Rig = Awaited<ReturnType<typeof accountsRig>>

const guess = (
  { accounts, codeFor }: Rig,
  phone: string,
  from: { ip: string },
  challengeId?: string,
) => failureOf(accounts.login(phone, wrong(codeFor(phone)), from, challengeId))

t.test('right codes do not count against a network, however many there are', async (t) => {
  const { signIn, database } = await accountsRig(t, {
    limits: { ...noLimits, triesPerNetwork: { count: 3, seconds: 3_600 } },
  })
  const phones = Array.from({ length: 10 }, newPhone)
  for (const phone of phones) t.ok(await signIn(phone, client))
  t.same(await database.query(`select from quota where key like 'try:%'`), [])
})

t.test('the right code from elsewhere is given back, a wrong one is not', async (t) => {
  const rig = await accountsRig(t, {
    limits: { ...noLimits, triesPerNetwork: { count: 3, seconds: 3_600 } },
  })
  for (let n = 0; n < 10; n++) {
    const phone = newPhone()
    await rig.accounts.sendOtp(phone, owner)
    t.ok(await rig.accounts.login(phone, rig.codeFor(phone), { ip: '2001:db8::1' }))
  }
  const phone = newPhone()
  await rig.accounts.sendOtp(phone, owner)
  for (let n = 0; n < 3; n++) {
    t.match(await guess(rig, phone, { ip: '2001:db8::1' }), { code: 'unauthorized' })
  }
  t.match(await guess(rig, phone, { ip: '2001:db8::1' }), { code: 'rate_limited' })
})

t.test(
  'a network that has used up its failures still takes codes that were asked for there',
  async (t) => {
    const { accounts, codeFor, signIn } = await accountsRig(t)
    for (let n = 0; n < 30; n++) await failureOf(accounts.login(newPhone(), '000000', client))
    t.match(await failureOf(accounts.login(newPhone(), '000000', client)), { code: 'rate_limited' })
    t.ok(await signIn(newPhone(), client), 'behind the same address')
    const phone = newPhone()
    const { challengeId } = await accounts.sendOtp(phone, moved)
    t.ok(await accounts.login(phone, codeFor(phone), client, challengeId), 'with the challenge')
  },
)

t.test('wrong codes of strangers do not use up those of who asked for the code', async (t) => {
  const rig = await accountsRig(t, { limits: noLimits })
  for (const [who, id] of [
    ['from the network that asked', false],
    ['with the challenge, from anywhere', true],
  ] as const) {
    const phone = newPhone()
    const { challengeId } = await rig.accounts.sendOtp(phone, owner)
    for (let n = 0; n < 5; n++) {
      t.match(await guess(rig, phone, stranger), { description: 'the code is wrong' })
    }
    t.match(await guess(rig, phone, stranger), {
      description: /^the code was tried too often; request a new one$/,
    })
    for (let n = 0; n < 4; n++)
      await guess(rig, phone, id ? moved : owner, id ? challengeId : undefined)
    t.ok(
      await rig.accounts.login(
        phone,
        rig.codeFor(phone),
        id ? moved : owner,
        id ? challengeId : undefined,
      ),
      who,
    )
  }
})

t.test(
  'of 200 tries at once with the challenge five are compared, whatever the others do',
  async (t) => {
    const rig = await accountsRig(t, { limits: noLimits })
    const phone = newPhone()
    const { challengeId } = await rig.accounts.sendOtp(phone, owner)
    await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        guess(rig, phone, n % 2 ? owner : stranger, n % 4 > 1 ? challengeId : undefined),
      ),
    )
    const rows = await rig.database.query('select own_tries, tries, far_tries from otp_challenge')
    t.same(rows, [{ own_tries: 5, tries: 5, far_tries: 5 }])
    t.match(await failureOf(rig.accounts.login(phone, rig.codeFor(phone), owner, challengeId)), {
      description: /^the code was tried too often; request a new one$/,
    })
  },
)

t.test('neighbours behind one address are told apart by the challenge', async (t) => {
  const rig = await accountsRig(t, { limits: noLimits })
  const phone = newPhone()
  const { challengeId } = await rig.accounts.sendOtp(phone, owner)
  const code = rig.codeFor(phone)
  // The neighbour asks for codes for the same phone and tries wrong ones: 10 and the phone is locked there.
  for (let n = 0; n < 10; n++) {
    if (n % 5 === 0) await rig.accounts.sendOtp(phone, owner)
    t.match(await guess(rig, phone, owner), { code: 'unauthorized' })
  }
  t.match(await guess(rig, phone, owner), { code: 'rate_limited', retryAfterSeconds: 900 })
  t.ok(await rig.accounts.login(phone, code, owner, challengeId))
})

t.test('a code of a stranger does not void that of the owner', async (t) => {
  const { accounts, codeFor } = await accountsRig(t, { limits: noLimits })
  const phone = newPhone()
  await accounts.sendOtp(phone, owner)
  const code = codeFor(phone)
  await accounts.sendOtp(phone, stranger)
  t.ok(await accounts.login(phone, code, owner))
})

t.test('a lock holds where the wrong codes came from', async (t) => {
  const rig = await accountsRig(t, { limits: noLimits })
  const phone = newPhone()
  for (let n = 0; n < 10; n++) {
    if (n % 5 === 0) await rig.accounts.sendOtp(phone, stranger)
    await guess(rig, phone, stranger)
  }
  await rig.accounts.sendOtp(phone, stranger)
  t.match(await guess(rig, phone, stranger), { code: 'rate_limited', retryAfterSeconds: 900 })
  t.ok(await rig.signIn(phone, owner))
})

/** A hundred wrong codes from ten networks. */
async function attacked(rig: Rig, phone: string) {
  for (let n = 0; n < 100; n++) {
    const from = { ip: `203.0.113.${n % 10}` }
    if (n % 5 === 0)
      for (let m = 0; m < 10; m++) await rig.accounts.sendOtp(phone, { ip: `203.0.113.${m}` })
    await guess(rig, phone, from)
  }
}

t.test(
  'a hundred failures lock a phone for all but the networks that its owner knows',
  async (t) => {
    const rig = await accountsRig(t, { limits: noLimits })
    const phone = newPhone()
    await rig.signIn(phone, owner)
    await attacked(rig, phone)
    await rig.accounts.sendOtp(phone, moved)
    const locked = {
      code: 'forbidden',
      description: 'sign-in with this phone number is locked; contact the operator',
    }
    t.match(await failureOf(rig.accounts.login(phone, rig.codeFor(phone), moved)), locked)
    t.ok(await rig.signIn(phone, owner))

    const other = newPhone()
    await attacked(rig, other)
    t.match(await failureOf(rig.signIn(other, moved)), locked)
    t.match(await unlock(rig.database, rig.vault, ` ${other} `), { phone: other, failures: 100 })
    t.ok(await rig.signIn(other, moved), 'the operator opened it')
  },
)

t.test('strangers do not use up the codes of a network that the owner knows', async (t) => {
  const { accounts, signIn, advance, database, vault } = await accountsRig(t)
  const phone = newPhone()
  await signIn(phone, owner)
  advance(86_400)
  for (let n = 0; n < 5; n++) {
    await accounts.sendOtp(phone, { ip: `203.0.113.${n}` })
    advance(600)
  }
  t.match(await failureOf(accounts.sendOtp(phone, stranger)), { code: 'rate_limited' })
  t.ok(await signIn(phone, owner))
  t.match(await failureOf(accounts.sendOtp(phone, moved)), { code: 'rate_limited' })
  await unlock(database, vault, phone)
  t.ok(await accounts.sendOtp(phone, moved))
})

t.test('failures are forgotten a month after the last', async (t) => {
  const { accounts, codeFor, database, advance, time } = await accountsRig(t)
  const phone = newPhone()
  await accounts.sendOtp(phone, owner)
  await failureOf(accounts.login(phone, wrong(codeFor(phone)), owner))
  const left = async () => (await database.query('select from otp_failures')).length
  advance(30 * 86_400)
  await tidy(database, time.now)
  t.equal(await left(), 1)
  advance(1)
  await tidy(database, time.now)
  t.equal(await left(), 0)
})
