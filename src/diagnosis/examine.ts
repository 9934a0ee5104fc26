/** Which check each step of a diagnosis is. */
import type { Examination } from '../../actors/diagnosis/actor.ts'
import type { Finding, Step } from '../../machines/diagnosis/events.ts'
import { checkCredential } from './credential.ts'
import { checkKey } from './get-me.ts'
import { checkReceiveMode } from './receive-mode.ts'
import { checkSending } from './send.ts'
import { checkWebhook } from './webhook-info.ts'
import type { ExaminerWorld } from './world.ts'

type Check = (world: ExaminerWorld, examination: Examination) => Promise<Finding>

const checks: Readonly<Record<Step, Check>> = {
  get_me: checkKey,
  credential: checkCredential,
  send: checkSending,
  receive_mode: checkReceiveMode,
  webhook_info: checkWebhook,
}

export const examiner = (world: ExaminerWorld) => (step: Step, examination: Examination) =>
  checks[step](world, examination)
