/** The diagnosis machine with its effects: a step is looked into, and stored before it is told. */
import { createActor, type SnapshotFrom } from 'xstate'
import type { DiagnosisEvent, Finding, Step } from '../../machines/diagnosis/events.ts'
import { diagnosisMachine } from '../../machines/diagnosis/machine.ts'
import { failed, settle } from '../../machines/model/failure.ts'
import { Activation } from '../host/activation.ts'
import { Services } from '../host/services.ts'
import { within } from '../host/time.ts'
import type { Clock, Logger } from '../ports/ports.ts'

export type DiagnosisActor = Activation<DiagnosisEvent, SnapshotFrom<typeof diagnosisMachine>>

export interface DiagnosisFacts {
  readonly diagnosisId: string
  readonly userId: number
  readonly apiKeyId: number
  readonly credentialId: number
  readonly sendTo: string | undefined
  /** Whether the key that was given at the start opens this key; undefined where none was given. */
  readonly opens: boolean | undefined
  readonly findings: readonly Finding[]
}

/** What a step is looked into with. */
export interface Examination {
  readonly facts: DiagnosisFacts
  readonly sendTo: string | undefined
  /** What the steps before it found. */
  readonly earlier: readonly Finding[]
  readonly signal: AbortSignal
}

export interface DiagnosisWorld {
  readonly clock: Clock
  readonly logger: Logger
  /** Milliseconds a step may take. */
  readonly stepTakes: number
  examine(step: Step, examination: Examination): Promise<Finding>
  saveFindings(diagnosisId: string, findings: readonly Finding[]): Promise<void>
}

const services = new Services<{ facts: DiagnosisFacts; world: DiagnosisWorld }>()

const logic = diagnosisMachine.provide({
  actions: {
    check: async ({ self, system, context }, { step, sendTo }) => {
      const { facts, world } = services.of({ system })
      const { diagnosisId } = facts
      const earlier = context.findings
      const outcome = await settle(
        async () => {
          if (!step) throw failed('bad_request', 'no step is left')
          const finding = await within(world.stepTakes, undefined, (signal) =>
            world.examine(step, { facts, sendTo, earlier, signal }),
          )
          await world.saveFindings(diagnosisId, [...earlier, finding])
          return finding
        },
        (cause) => world.logger.error({ diagnosisId, err: cause }, 'a step of a diagnosis failed'),
      )
      if (outcome.ok) self.send({ type: 'step.checked', finding: outcome.result })
      else self.send({ type: 'step.unchecked', failure: outcome.failure })
    },
  },
})

export function activateDiagnosis(facts: DiagnosisFacts, world: DiagnosisWorld): DiagnosisActor {
  const { findings, sendTo } = facts
  const actor = createActor(logic, { clock: world.clock, input: { findings, sendTo } })
  services.admit(actor, { facts, world })
  return new Activation(actor, () => world.clock.now())
}
