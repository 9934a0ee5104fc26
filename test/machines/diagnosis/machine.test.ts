/** A diagnosis takes its steps in their order, one by one or all at once, and answers once each time. */
import t from 'tap'
import {
  causeOf,
  type DiagnosisEvent,
  type Finding,
  STEPS,
  type Step,
} from '../../../machines/diagnosis/events.ts'
import { diagnosisMachine, nextStep } from '../../../machines/diagnosis/machine.ts'
import { Walk } from '../walk.ts'

const begin = (findings: readonly Finding[] = [], sendTo?: string) =>
  new Walk<DiagnosisEvent>(diagnosisMachine, { findings, sendTo })
const next = (all = false, requestId = 'n1', sendTo?: string): DiagnosisEvent => ({
  type: 'diagnosis.next',
  requestId,
  all,
  ...(sendTo !== undefined && { sendTo }),
})
const found = (step: Step, more: Partial<Finding> = {}): Finding => ({
  step,
  verdict: 'passed',
  evidence: ['seen'],
  ...more,
})
const checked = (finding: Finding): DiagnosisEvent => ({ type: 'step.checked', finding })
const yes = (requestId = 'n1') => ({
  type: 'reply',
  requestId,
  outcome: { ok: true, result: true },
})
const no = (code: string) => ({ ok: false, failure: { code } })

t.test('one by one: every command takes one step', async (t) => {
  const walk = begin()
  for (const step of STEPS) {
    t.equal(walk.state, 'waiting')
    walk.send(next())
    t.same(walk.effects, [{ type: 'check', params: { step, sendTo: undefined } }])
    t.same(walk.replies, [], 'the step is taken first')
    walk.send(checked(found(step)))
    t.same(walk.replies, [yes()])
  }
  t.equal(walk.state, 'finished')
  t.same(
    walk.snapshot.context.findings.map(({ step }: Finding) => step),
    [...STEPS],
  )
  t.match(walk.send(next()).outcome, no('bad_request'))
})

t.test('all at once: one command takes what is left', async (t) => {
  const walk = begin([found('get_me')])
  walk.send(next(true, 'all', '@ada'))
  for (const step of STEPS.slice(1)) {
    t.same(walk.effects, [{ type: 'check', params: { step, sendTo: '@ada' } }])
    t.same(walk.replies, [])
    walk.send(checked(found(step)))
  }
  t.same(walk.replies, [yes('all')])
  t.equal(walk.state, 'finished')
})

t.test('while a step is taken nobody else takes one', async (t) => {
  const walk = begin().send(next(), next(false, 'n2'))
  const description = 'a step of the diagnosis is being taken'
  const failure = { code: 'conflict', description, retryAfterSeconds: 1 }
  t.strictSame(walk.replies, [{ type: 'reply', requestId: 'n2', outcome: { ok: false, failure } }])
  t.same(walk.send(checked(found('get_me'))).replies, [yes()])
})

t.test('a step that could not be taken is told, and can be taken again', async (t) => {
  const walk = begin().send(next(true))
  walk.send({ type: 'step.unchecked', failure: { code: 'unavailable', description: '' } })
  t.match(walk.outcome, no('unavailable'))
  t.equal(walk.state, 'waiting')
  t.match(walk.send(next()).effects, [{ params: { step: 'get_me' } }])
})

t.test('another process goes on where the last one stopped', async (t) => {
  const some = [found('get_me'), found('credential')]
  t.match(begin(some, '@ada').send(next()).effects, [{ params: { step: 'send', sendTo: '@ada' } }])
  const all = STEPS.map((step) => found(step))
  t.equal(begin(all).state, 'finished')
  t.equal(nextStep(all), undefined)
})

t.test('the cause is what failed first, else the first remarkable thing', async (t) => {
  const slow = found('credential', { code: 'slow' })
  const failed = found('send', { verdict: 'failed', code: 'chat_not_found' })
  const later = found('webhook_info', { verdict: 'failed', code: 'endpoint_failing' })
  t.equal(causeOf([slow, failed, later]), failed)
  t.equal(causeOf([found('get_me'), slow]), slow)
  t.equal(causeOf([found('get_me')]), undefined)
})

t.test('an account that is out is the cause, whatever else was refused before', async (t) => {
  const scope = found('get_me', { verdict: 'failed', code: 'missing_scope' })
  const revoked = found('get_me', { verdict: 'failed', code: 'key_revoked' })
  const account = found('credential', { verdict: 'failed', code: 'session_revoked' })
  const conflict = found('receive_mode', { verdict: 'failed', code: 'two_pollers' })
  t.equal(causeOf([scope, account, conflict]), account)
  t.equal(causeOf([revoked, account, conflict]), revoked, 'but with such a key nothing else counts')
  t.equal(causeOf([scope, conflict]), scope)
  const deleted = found('credential', { verdict: 'failed', code: 'credential_deleted' })
  t.equal(causeOf([revoked, deleted]), deleted, 'its keys were revoked with it')
})

t.test('an endpoint that fails is the cause, though somebody polled beside it', async (t) => {
  const beside = found('receive_mode', { verdict: 'failed', code: 'polling_and_webhook' })
  const endpoint = found('webhook_info', { verdict: 'failed', code: 'endpoint_failing' })
  t.equal(causeOf([beside, endpoint]), endpoint)
  const noticed = found('webhook_info', { code: 'updates_dropped' })
  t.equal(causeOf([beside, noticed]), beside, 'but not what was only noticed there')
})

t.test(
  'what needs nothing hides no remark, and a webhook that was turned off is the first',
  async (t) => {
    const nobody = found('receive_mode', { code: 'nobody_receives' })
    const off = found('webhook_info', { code: 'webhook_turned_off' })
    const dropped = found('webhook_info', { code: 'updates_dropped' })
    for (const code of ['events_repeated', 'events_disordered'] as const) {
      const harmless = found('credential', { code })
      t.equal(causeOf([harmless, found('receive_mode'), off]), off)
      t.equal(causeOf([harmless, nobody, dropped]), nobody)
      t.equal(causeOf([harmless, dropped]), dropped)
      t.equal(causeOf([harmless]), harmless)
    }
    t.equal(causeOf([nobody, off]), off, 'nobody receives because of it')
    const leftOut = found('receive_mode', { code: 'updates_left_out' })
    t.equal(causeOf([found('credential', { code: 'slow' }), leftOut]), leftOut)
  },
)
