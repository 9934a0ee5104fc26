/** The diagnosis machine with its effects: each step is examined, and its finding stored before the reply. */
import type { Finding, Step } from '../../machines/diagnosis/events.ts'
import { diagnosisMachine } from '../../machines/diagnosis/machine.ts'
import { failed, settle } from '../../machines/model/failure.ts'
import { HostedActor } from '../host/actor.ts'
import { ActorHost } from '../host/host.ts'
import { within } from '../host/time.ts'
import type { Clock, Logger } from '../ports/ports.ts'

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

/** The input of one step. */
export interface Examination {
  readonly facts: DiagnosisFacts
  readonly sendTo: string | undefined
  /** The findings of the steps before. */
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

interface DiagnosisEffects {
  readonly facts: DiagnosisFacts
  readonly world: DiagnosisWorld
}

export type DiagnosisActor = HostedActor<typeof diagnosisMachine, DiagnosisEffects>

/** Resolves with the finding once it is stored. */
async function takeStep(
  { facts, world }: DiagnosisEffects,
  earlier: readonly Finding[],
  step: Step | undefined,
  sendTo: string | undefined,
): Promise<Finding> {
  if (!step) throw failed('bad_request', 'no step is left')
  const finding = await within(world.stepTakes, undefined, (signal) =>
    world.examine(step, { facts, sendTo, earlier, signal }),
  )
  await world.saveFindings(facts.diagnosisId, [...earlier, finding])
  return finding
}

const host = new ActorHost<typeof diagnosisMachine, DiagnosisEffects>({
  ended({ effects: { facts, world } }, err) {
    if (err === undefined) return
    world.logger.error({ diagnosisId: facts.diagnosisId, err }, 'a diagnosis crashed')
  },
  provide: (host) =>
    diagnosisMachine.provide({
      actions: {
        reply: host.reply,
        check: async ({ self, context }, { step, sendTo }) => {
          const effects = host.effectsOf(self)
          const { facts, world } = effects
          const onDefect = (err: unknown) =>
            world.logger.error(
              { diagnosisId: facts.diagnosisId, err },
              'a step of a diagnosis failed',
            )
          const take = () => takeStep(effects, context.findings, step, sendTo)
          const outcome = await settle(take, onDefect)
          if (outcome.ok) self.send({ type: 'step.checked', finding: outcome.result })
          else self.send({ type: 'step.unchecked', failure: outcome.failure })
        },
      },
    }),
})

export function activateDiagnosis(facts: DiagnosisFacts, world: DiagnosisWorld): DiagnosisActor {
  const { findings, sendTo } = facts
  const { clock } = world
  return host.begin(
    { clock, input: { findings, sendTo } },
    (ref) => new HostedActor(ref, { facts, world }, clock, host),
  )
}
