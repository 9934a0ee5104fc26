/** What is particular to linking by phone and one-time code. */
import t from 'tap'
import type { LinkStep } from '../../actors/ports/platform.ts'
import { patience } from './contract/recorder.ts'
import { refusalOf } from './contract/scene.ts'
import { stage } from './sandbox/stage.ts'

const code = (value: string) => ({ kind: 'code' as const, code: value })

async function started(t: Parameters<typeof stage>[0]) {
  const all = await stage(t)
  const person = await all.register()
  const { platform } = all.sandbox
  const attempt = await platform.startLink('phone', { phone: person.phone }, patience())
  const sentCode = async () => (await all.sandbox.inboxes.codes(person.id))[0]!.code
  return { ...all, person, platform, attempt, sentCode }
}

const wrong = (right: string) => String((Number(right) + 1) % 100_000).padStart(5, '0')

t.test('only registered numbers in international form are linked', async (t) => {
  const { platform } = await started(t)
  const refusal = async (method: string, fields: Record<string, string>) => {
    const { description } = await refusalOf(platform.startLink(method, fields, patience()))
    return description
  }
  t.match(await refusal('phone', { phone: '+15550109999' }), 'is not registered in the sandbox')
  t.match(await refusal('phone', { phone: '0912' }), 'must be a phone number')
  t.match(await refusal('phone', {}), 'field "phone" is required')
  t.match(await refusal('qr', {}), 'unknown link method')
})

t.test('the step says how the code comes and how long it lives', async (t) => {
  const { attempt } = await started(t)
  t.match(attempt.step, {
    kind: 'code',
    length: 5,
    resendAfterSeconds: 30,
    expiresInSeconds: 300,
  })
})

t.test('a new code is sent after half a minute, and the old one is void', async (t) => {
  const { attempt, sentCode, time } = await started(t)
  const early = await refusalOf(attempt.answer({ kind: 'resend' }, patience()))
  t.equal(early.code, 'rate_limited')
  t.ok(early.retryAfterSeconds! <= 30)
  const old = await sentCode()
  time.ahead = 31_000
  t.match(await attempt.answer({ kind: 'resend' }, patience()), { kind: 'code' })
  const renewed = await sentCode()
  if (old !== renewed) t.match(await attempt.answer(code(old), patience()), { wrong: true })
  t.match(await attempt.answer(code(renewed), patience()), { kind: 'done' })
})

t.test('five wrong answers end the link, also with the right one', async (t) => {
  const { attempt, sentCode } = await started(t)
  const right = await sentCode()
  const steps: LinkStep[] = []
  for (let tries = 0; tries < 5; tries += 1) {
    steps.push(await attempt.answer(code(wrong(right)), patience()))
  }
  t.match(steps.slice(0, 4), Array(4).fill({ kind: 'code', wrong: true }))
  t.match(steps[4], { kind: 'refused', reason: 'too_many_attempts' })
  t.match(await attempt.answer(code(right), patience()), { kind: 'refused' })
})

t.test('a code links once', async (t) => {
  const { attempt, sentCode } = await started(t)
  const right = await sentCode()
  const answers = [attempt, attempt].map((given) => given.answer(code(right), patience()))
  const kinds = (await Promise.all(answers)).map(({ kind }) => kind)
  t.strictSame(kinds.toSorted(), ['done', 'refused'])
})

t.test('a banned or deleted account is not linked', async (t) => {
  const { sandbox, platform, person } = await started(t)
  const start = async () => {
    const { step } = await platform.startLink('phone', { phone: person.phone }, patience())
    return step
  }
  await sandbox.faults.put(person.id, { fault: 'ban' })
  t.match(await start(), { kind: 'refused', reason: 'account_banned' })
  await sandbox.faults.clear(person.id, 'ban')
  await sandbox.people.change(person.id, { deactivated: true })
  t.match(await start(), { kind: 'refused', reason: 'account_deleted' })
})

t.test('a link whose code is forgotten since is over', async (t) => {
  const { db, platform, attempt } = await started(t)
  if (attempt.step.kind !== 'code') throw new Error('no code was sent')
  await db.query('delete from sandbox_challenge', [])
  const resumed = await platform.resumeLink(attempt.step.stored, patience())
  t.match(resumed.step, { kind: 'refused', reason: 'expired', description: 'the code has expired' })
  await resumed.close({ signOut: true })
})
