/** A link flow: each step in turn, wrong answers in place, and every way to its end. */
import t from 'tap'
import type { LinkState } from '../../../machines/link/events.ts'
import type { Failure } from '../../../machines/model/protocol.ts'
import {
  answerFailed,
  begin,
  cancel,
  code,
  finished,
  over,
  password,
  resend,
  step,
  verify,
  wrong,
} from './rig.ts'

const refusal = (requestId: string, failure: Failure) => ({
  type: 'reply',
  requestId,
  outcome: { ok: false, failure },
})
const bad = (description: string): Failure => ({ code: 'bad_request', description })
const yes = (requestId: string) => ({
  type: 'reply',
  requestId,
  outcome: { ok: true, result: true },
})

t.test('a code goes to the network, and what follows is shown', async (t) => {
  const walk = begin().send(code)
  t.equal(walk.state, 'open.checking_code')
  t.same(walk.effects, [{ type: 'answer', params: code }])
  t.same(walk.replies, [], 'the network answers first')
  walk.send(step('password_needed', 'v1', { passwordHint: 'dog' }))
  t.equal(walk.state, 'open.password_needed')
  t.same(walk.replies, [yes('v1')])
  t.same(walk.snapshot.context.step, { state: 'password_needed', passwordHint: 'dog' })
  walk.send(password)
  t.equal(walk.state, 'open.checking_password')
  walk.send(finished)
  t.equal(walk.state, 'linked')
  t.equal(walk.snapshot.context.credentialId, 7)
  t.same(walk.replies, [yes('v1')])
})

t.test('an account without a password is linked by its code', async (t) => {
  t.equal(begin().send(code, finished).state, 'linked')
})

t.test('a wrong answer leaves the step as it is, with one attempt less', async (t) => {
  const cases = [
    ['code_sent', code, 'the code is wrong'],
    ['password_needed', password, 'the password is wrong'],
  ] as const
  for (const [state, answer, text] of cases) {
    const walk = begin(state).send(answer, wrong)
    t.equal(walk.state, `open.${state}`)
    t.equal(walk.snapshot.context.attemptsLeft, 2)
    t.same(walk.replies, [refusal('v1', bad(text))])
    t.same(walk.effects.at(-1), { type: 'save', params: state })
    t.equal(walk.send(answer).effects.length, 1, 'and can be given again')
  }
})

t.test('the last wrong answer ends the flow', async (t) => {
  const walk = begin().send(code, wrong, code, wrong, code)
  walk.send(wrong)
  t.equal(walk.state, 'failed')
  t.equal(walk.snapshot.context.attemptsLeft, 0)
  t.equal(walk.snapshot.context.reason, 'too_many_attempts')
  t.same(walk.replies, [refusal('v1', bad('the code is wrong; no attempts are left, start again'))])
  t.same(walk.effects, [{ type: 'save', params: 'failed' }])
})

t.test('a network that does not answer costs no attempt', async (t) => {
  const failure: Failure = { code: 'timeout', description: 'no answer in time', certain: false }
  for (const [state, answer] of [
    ['code_sent', code],
    ['password_needed', password],
  ] as const) {
    const walk = begin(state).send(answer, answerFailed(failure))
    t.equal(walk.state, `open.${state}`)
    t.equal(walk.snapshot.context.attemptsLeft, 3)
    t.same(walk.replies, [refusal('v1', failure)])
  }
})

t.test('while an answer is checked no other is taken', async (t) => {
  const busy: Failure = {
    code: 'conflict',
    description: 'the last answer is still being checked',
    reason: 'answer_pending',
    retryAfterSeconds: 1,
  }
  for (const walk of [begin().send(code), begin('password_needed').send(password)]) {
    const { state } = walk
    walk.send(verify({ code: '1', password: '2' }, 'v2'), resend(1e9, 'r2'))
    t.same(walk.replies, [refusal('v2', busy), refusal('r2', busy)])
    t.equal(walk.state, state)
    t.same(walk.effects, [])
  }
})

t.test('each step says what it waits for', async (t) => {
  const cases = [
    ['code_sent', password, 'the code'],
    ['password_needed', code, 'the password'],
    ['waiting', code, 'the other device'],
  ] as const
  for (const [state, answer, what] of cases) {
    const walk = begin(state).send(answer)
    t.same(walk.replies, [refusal('v1', bad(`the link session waits for ${what}`))])
    t.equal(walk.state, `open.${state}`)
  }
})

t.test('a new code is sent when it is time, and not before', async (t) => {
  const walk = begin().send(resend(58_500))
  t.same(walk.replies, [
    refusal('r1', { code: 'rate_limited', description: '', retryAfterSeconds: 2 }),
  ])
  t.equal(walk.state, 'open.code_sent')
  walk.send(resend(60_000))
  t.same(walk.effects, [{ type: 'resend', params: resend(60_000) }])
  t.equal(walk.state, 'open.checking_code')
  walk.send(step('code_sent', 'r1', { resendAt: 180_000 }))
  t.same(walk.replies, [yes('r1')])
  t.equal(walk.send(resend(179_000)).outcome?.ok, false, 'the pause counts anew')
})

t.test('a step that is shown is watched until it changes', async (t) => {
  const walk = begin('waiting')
  t.same(walk.running, ['watch'])
  walk.send(step('waiting', '', { show: { form: 'qr', value: 'b', until: 9 } }))
  t.same(walk.running, ['watch'])
  t.match(walk.snapshot.context.step, { show: { value: 'b' } })
  t.same(walk.send(step('password_needed', '')).running, [])
})

t.test('a network that refuses ends the flow with its reason', async (t) => {
  const refused = {
    type: 'link.refused',
    requestId: 'v1',
    reason: 'account_banned',
    description: 'the account is banned',
  } as const
  const walk = begin().send(code)
  walk.send(refused)
  t.equal(walk.state, 'failed')
  t.equal(walk.snapshot.context.reason, 'account_banned')
  t.same(walk.replies, [
    refusal('v1', { ...bad('the account is banned'), reason: 'account_banned' }),
  ])
  t.same(walk.effects, [{ type: 'save', params: 'failed' }])
})

t.test('a flow expires at its time, however many steps it takes', async (t) => {
  for (const state of ['code_sent', 'password_needed', 'waiting'] as const) {
    const walk = begin(state)
    t.equal(walk.timers.expiry, 900_000)
    t.same(walk.elapse('expiry').effects, [{ type: 'save', params: 'expired' }])
    t.equal(walk.state, 'expired')
    t.same(walk.running, [])
  }
  const walk = begin('waiting')
  const set = walk.timersSet
  for (let round = 0; round < 3; round++) walk.send(step('waiting', ''))
  walk.send(step('code_sent', ''), code, step('password_needed'))
  t.equal(walk.timersSet, set, 'no step winds the clock up again')
})

t.test('it can be cancelled at any step', async (t) => {
  const places = [begin(), begin().send(code), begin('password_needed'), begin('waiting')]
  for (const walk of places) {
    walk.send(cancel)
    t.equal(walk.state, 'cancelled')
    t.same(walk.replies, [yes('c1')])
    t.same(walk.effects, [{ type: 'save', params: 'cancelled' }])
    t.same(walk.timers, {})
  }
})

t.test('what is cancelled can be cancelled again: perhaps it could not be stored', async (t) => {
  const walk = begin('cancelled').send(cancel)
  t.equal(walk.state, 'cancelled')
  t.same(walk.replies, [yes('c1')])
  t.same(walk.effects, [{ type: 'save', params: 'cancelled' }])
})

const ends: LinkState[] = ['expired', 'cancelled', 'failed']

t.test('a flow that is over takes no answers, also in another process', async (t) => {
  for (const state of ends) {
    const walk = begin(state)
    t.equal(walk.state, state)
    walk.send(code, resend(1e9), ...(state === 'cancelled' ? [] : [cancel]))
    const refused = state === 'cancelled' ? ['v1', 'r1'] : ['v1', 'r1', 'c1']
    t.same(
      walk.replies,
      refused.map((id) => refusal(id, over)),
    )
    t.same(walk.effects, [])
  }
})

t.test('whoever lost the reply that the account is linked gives the answer again', async (t) => {
  for (const walk of [begin('linked', { credentialId: 7 }), begin().send(code, finished)]) {
    walk.send(verify({ code: '12345' }, 'v2'), verify({ password: 'secret' }, 'v3'))
    t.same(walk.replies, [yes('v2'), yes('v3')])
    walk.send(resend(1e9), cancel)
    t.same(
      walk.replies,
      ['r1', 'c1'].map((id) => refusal(id, over)),
    )
    t.same(walk.effects, [])
    t.equal(walk.state, 'linked')
    t.equal(walk.snapshot.context.credentialId, 7)
  }
})

t.test('a flow whose time passed while no process held it is expired', async (t) => {
  for (const expiresInMs of [0, -1]) {
    const walk = begin('code_sent', { expiresInMs })
    t.equal(walk.state, 'expired')
    t.match(walk.effects, [{ type: 'save', params: 'expired' }])
    t.equal(begin('linked', { expiresInMs }).state, 'linked')
  }
})

t.test('an answer under way when the flow ends is told so', async (t) => {
  const failure: Failure = { code: 'timeout', description: '' }
  const refused = {
    type: 'link.refused',
    requestId: 'v1',
    reason: 'no_account',
    description: 'y',
  } as const
  const outcomes = [step('password_needed'), wrong, answerFailed(failure), refused]
  for (const outcome of outcomes) {
    for (const end of ['cancelled', 'expired'] as const) {
      const walk = begin().send(code)
      if (end === 'cancelled') walk.send(cancel)
      else walk.elapse('expiry')
      walk.send(outcome)
      t.same(walk.replies, [refusal('v1', over)], `${outcome.type} when ${end}`)
      t.equal(walk.state, end)
    }
  }
})

t.test('an account that was linked all the same is linked', async (t) => {
  const walk = begin().send(code, cancel)
  walk.send(finished)
  t.equal(walk.state, 'linked')
  t.equal(walk.snapshot.context.credentialId, 7)
  t.same(walk.replies, [yes('v1')])
})
