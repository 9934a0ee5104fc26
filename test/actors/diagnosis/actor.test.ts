/** A diagnosis' actor: each step is stored before it is told, takes its time at most, and hurts nobody when it fails. */
import t from 'tap'
import {
  activateDiagnosis,
  type DiagnosisFacts,
  type DiagnosisWorld,
  type Examination,
} from '../../../actors/diagnosis/actor.ts'
import { type Finding, STEPS, type Step } from '../../../machines/diagnosis/events.ts'
import { failed } from '../../../machines/model/failure.ts'
import { settled, TestClock } from '../../support/clock.ts'
import { FakeLogger } from '../../support/fakes.ts'
import { refused } from '../refused.ts'

const facts: DiagnosisFacts = {
  diagnosisId: 'd1',
  userId: 1,
  apiKeyId: 100_000,
  credentialId: 7,
  sendTo: '@ada',
  opens: undefined,
  findings: [],
}

function begin(more: Partial<DiagnosisWorld> = {}) {
  const saved: (readonly Finding[])[] = []
  const examined: [Step, Examination][] = []
  const logger = new FakeLogger()
  const actor = activateDiagnosis(facts, {
    clock: new TestClock(),
    logger,
    stepTakes: 10_000,
    examine: async (step, examination) => {
      examined.push([step, examination])
      return { step, verdict: 'passed', evidence: [] }
    },
    saveFindings: async (_, findings) => {
      saved.push(findings)
    },
    ...more,
  })
  return { actor, saved, examined, logger }
}

t.test('every step is stored with those before it, and sees what they found', async (t) => {
  const { actor, saved, examined } = begin()
  await actor.ask({ type: 'diagnosis.next', all: true })
  t.same(
    saved.map((findings) => findings.length),
    [1, 2, 3, 4, 5],
  )
  t.same(
    examined.map(([step, { earlier, sendTo }]) => [step, earlier.length, sendTo]),
    STEPS.map((step, place) => [step, place, '@ada']),
  )
})

t.test('a step that cannot be stored is not told, and is taken again', async (t) => {
  let isDown = true
  const { actor, logger } = begin({
    saveFindings: async () => {
      if (isDown) throw new Error('storage is down')
    },
  })
  await refused(t, actor.ask({ type: 'diagnosis.next', all: false }), { code: 'internal' })
  t.same(actor.snapshot.context.findings, [])
  t.match(logger.errors, [{ diagnosisId: 'd1', err: { message: 'storage is down' } }])
  isDown = false
  await actor.ask({ type: 'diagnosis.next', all: false })
  t.match(actor.snapshot.context.findings, [{ step: 'get_me' }])
})

t.test('a step that takes too long ends, and what it stands on is told so', async (t) => {
  // The timer of a limit does not keep a process alive.
  const alive = setTimeout(() => undefined, 10_000)
  t.teardown(() => clearTimeout(alive))
  let signal: AbortSignal | undefined
  const { actor } = begin({
    stepTakes: 1,
    examine: (_, examination) => {
      signal = examination.signal
      return new Promise(() => {})
    },
  })
  await refused(t, actor.ask({ type: 'diagnosis.next', all: true }), {
    code: 'timeout',
    certain: false,
  })
  t.ok(signal?.aborted)
  t.equal(actor.snapshot.value, 'waiting')
})

t.test('a step that is refused says why', async (t) => {
  const examine = () => Promise.reject(failed('unavailable', 'it is restarting'))
  const { actor } = begin({ examine })
  await refused(t, actor.ask({ type: 'diagnosis.next', all: false }), {
    code: 'unavailable',
    description: 'it is restarting',
  })
})

t.test('one that is stopped answers whoever waits', async (t) => {
  const { actor } = begin({ examine: () => new Promise(() => {}) })
  const waiting = refused(t, actor.ask({ type: 'diagnosis.next', all: false }), {
    code: 'unavailable',
  })
  await settled()
  actor.stop()
  await waiting
})
