/** Linking: every step with the right and the wrong answer, too late, given up, and in another process. */
import type { Test } from 'tap'
import type { LinkAttempt, LinkStep, Platform } from '../../../actors/ports/platform.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import type { Account, ContractHarness } from './harness.ts'
import { patience } from './recorder.ts'
import { able, accountOf, linked, need, refusalOf } from './scene.ts'

export async function linkContract(t: Test, harness: ContractHarness) {
  const { platform } = harness

  await t.test('the right answers link the account', async (t) => {
    const account = await harness.account()
    const { identity, secrets } = await linked(platform, account)
    t.equal(identity.native, account.native)
    t.ok(identity.firstName)
    t.strictSame(JSON.parse(JSON.stringify(secrets)), secrets, 'the secrets are JSON')
  })

  await t.test('linking again yields the same account', async (t) => {
    const account = await harness.account()
    const first = await linked(platform, account)
    const again = await linked(platform, account)
    t.equal(again.identity.native, first.identity.native)
  })

  await t.test('a missing field is named', async (t) => {
    const { method } = await harness.account()
    const failure = await refusalOf(platform.startLink(method, {}, patience()))
    t.equal(failure.code, 'bad_request')
  })

  await able(t, harness, ['wrongFields'], 'wrong credentials are refused', async (t) => {
    const account = await harness.account()
    const fields = need(account.wrongFields, 'wrongFields')
    t.ok(await isRefused(platform, account, fields))
  })

  await t.test('an attempt that was given up does not stand in the way', async (t) => {
    const account = await harness.account()
    await (await platform.startLink(account.method, account.fields, patience())).close()
    t.equal((await linked(platform, account)).identity.native, account.native)
  })

  await able(t, harness, ['code'], 'after a wrong code the right one is taken', async (t) => {
    const { account, attempt } = await started(harness)
    const wrong = await answer(attempt, 'code', await wrongCode(account))
    t.match(wrong, { kind: 'code', wrong: true })
    const done = await answer(attempt, 'code', await codeOf(account))
    t.equal(accountOf(done).identity.native, account.native)
  })

  await able(t, harness, ['code', 'expiry'], 'a code that is too old is refused', async (t) => {
    const { account, attempt } = await started(harness)
    const code = await codeOf(account)
    await need(account.expireCode, 'expiry').call(account)
    t.match(await answer(attempt, 'code', code), { kind: 'refused', reason: 'expired' })
    await attempt.close({ signOut: true })
  })

  await able(t, harness, ['code'], 'a new process goes on from what a step stored', async (t) => {
    const { account, attempt } = await started(harness)
    const stored = storedOf(attempt.step)
    await attempt.close()
    const resumed = await harness.restarted().resumeLink(stored, patience())
    t.match(resumed.step, { kind: 'code' })
    const done = await answer(resumed, 'code', await codeOf(account))
    t.equal(accountOf(done).identity.native, account.native)
  })

  await able(t, harness, ['code', 'secondFactor'], 'a second factor is asked for', async (t) => {
    const secondFactor = { password: 'correct horse', hint: 'staple' }
    const account = await harness.account({ secondFactor })
    const attempt = await platform.startLink(account.method, account.fields, patience())
    const asked = await answer(attempt, 'code', await codeOf(account))
    t.match(asked, { kind: 'password', hint: 'staple' })
    t.match(await answer(attempt, 'password', 'battery'), { kind: 'password', wrong: true })

    await attempt.close()
    const resumed = await harness.restarted().resumeLink(storedOf(asked), patience())
    t.match(resumed.step, { kind: 'password', hint: 'staple' })
    const done = await answer(resumed, 'password', secondFactor.password)
    t.equal(accountOf(done).identity.native, account.native)
  })
}

async function started(harness: ContractHarness) {
  const account = await harness.account()
  const attempt = await harness.platform.startLink(account.method, account.fields, patience())
  return { account, attempt }
}

function answer(attempt: LinkAttempt, kind: 'code' | 'password', value: string) {
  const given = kind === 'code' ? { kind, code: value } : { kind, password: value }
  return attempt.answer(given, patience())
}

const codeOf = (account: Account) => need(account.code, 'code').call(account)

/** A code of the right form that is not the right one. */
async function wrongCode(account: Account) {
  const code = await codeOf(account)
  return `${(Number(code[0]) + 1) % 10}${code.slice(1)}`
}

function storedOf(step: LinkStep): Json {
  if (!('stored' in step)) throw new Error(`the step "${step.kind}" stores nothing`)
  return JSON.parse(JSON.stringify(step.stored))
}

async function isRefused(platform: Platform, account: Account, fields: Record<string, string>) {
  const attempt = await platform
    .startLink(account.method, fields, patience())
    .catch((cause: unknown) => refusalOf(Promise.reject(cause)))
  if ('code' in attempt) return true
  await attempt.close()
  return attempt.step.kind === 'refused'
}
