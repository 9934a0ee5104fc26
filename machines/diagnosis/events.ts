/** The events of a diagnosis' machine, and the findings of its steps. */
import type { Command, Failure } from '../model/protocol.ts'

/** In the order in which they are taken: each one rests on what the ones before it proved. */
export const STEPS = ['get_me', 'credential', 'send', 'receive_mode', 'webhook_info'] as const

export type Step = (typeof STEPS)[number]

export interface Finding {
  readonly step: Step
  readonly verdict: 'passed' | 'failed' | 'skipped'
  /** What is wrong or remarkable, for programs. */
  readonly code?: string
  /** What was seen, in words. */
  readonly evidence: readonly string[]
  /** What to do about it, in words. */
  readonly remedy?: string
}

export interface TakeStep extends Command {
  readonly type: 'diagnosis.next'
  /** All that are left, not one. */
  readonly all: boolean
  /** The recipient of the test message. */
  readonly sendTo?: string
}

export type DiagnosisEvent =
  | TakeStep
  | (Command & { readonly type: 'request.abandoned' })
  | { readonly type: 'step.checked'; readonly finding: Finding }
  | { readonly type: 'step.unchecked'; readonly failure: Failure }

/** With these a key opens nothing. */
const FATAL: readonly (string | undefined)[] = ['key_revoked', 'key_expired', 'wrong_secret']

/** An account that is out stops everything; what else fails hinders some of it, what is remarkable nothing. */
function severityOf({ step, verdict, code }: Finding): number {
  if (verdict === 'failed') return FATAL.includes(code) ? 4 : step === 'credential' ? 3 : 2
  return code === undefined ? 0 : 1
}

/** The cause is the most serious finding; of two alike the first, for what fails after it may only follow from it. */
export const causeOf = (findings: readonly Finding[]): Finding | undefined =>
  findings
    .filter((finding) => severityOf(finding) > 0)
    .toSorted((one, other) => severityOf(other) - severityOf(one))[0]
