/** The events of a diagnosis' machine, and the findings of its steps. */
import type { Command, Failure } from '../model/protocol.ts'
import type { FindingCode, Sentence } from './facts.ts'

/** The steps in their order: each one relies on what the earlier ones proved. */
export const STEPS = ['get_me', 'credential', 'send', 'receive_mode', 'webhook_info'] as const

export type Step = (typeof STEPS)[number]

export interface Finding {
  readonly step: Step
  readonly verdict: 'passed' | 'failed' | 'skipped'
  /** The finding as a code for programs. */
  readonly code?: FindingCode
  /** The observation; a row of an older version holds the English text instead. */
  readonly evidence: readonly (Sentence | string)[]
  /** The remedy; a row of an older version holds the English text instead. */
  readonly remedy?: Sentence | string
}

export interface TakeStep extends Command {
  readonly type: 'diagnosis.next'
  /** Takes all steps that are left, not one. */
  readonly all: boolean
  /** The recipient of the test message. */
  readonly sendTo?: string
}

export type DiagnosisEvent =
  | TakeStep
  | (Command & { readonly type: 'request.abandoned' })
  | { readonly type: 'step.checked'; readonly finding: Finding }
  | { readonly type: 'step.unchecked'; readonly failure: Failure }

/** A key with one of these opens nothing. */
const FATAL: readonly (string | undefined)[] = [
  'key_revoked',
  'key_expired',
  'wrong_secret',
  'user_suspended',
]

/** Remarks that explain no other: the service has put it right, or has told the bot with each answer. */
const HARMLESS: readonly (string | undefined)[] = [
  'calls_too_fast',
  'events_repeated',
  'events_disordered',
]

/** Why nothing comes: other remarks, such as that nobody receives, may only follow from these. */
const SILENCING: readonly (string | undefined)[] = ['webhook_turned_off', 'updates_left_out']

function weightOf({ code }: Finding): number {
  if (code === undefined) return 0
  if (HARMLESS.includes(code)) return 1
  return SILENCING.includes(code) ? 3 : 2
}

/**
 * A broken account stops everything, another failure stops a part, and a remark stops nothing. Two who receive against each
 * other stop the least: one stray getUpdates is seen for a minute, while an endpoint that fails goes on failing.
 */
function severityOf(finding: Finding): number {
  const { step, verdict, code } = finding
  if (verdict !== 'failed') return weightOf(finding)
  // Its keys were revoked with it, and no other can be made for it.
  if (code === 'credential_deleted') return 8
  if (FATAL.includes(code)) return 7
  return step === 'credential' ? 6 : step === 'receive_mode' ? 4 : 5
}

/** The most serious finding is the cause; the first of two equals, because the second may only follow from it. */
export const causeOf = (findings: readonly Finding[]): Finding | undefined =>
  findings
    .filter((finding) => severityOf(finding) > 0)
    .toSorted((one, other) => severityOf(other) - severityOf(one))[0]
