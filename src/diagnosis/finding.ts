/** How a step says what it found. */
import type { Finding, Step } from '../../machines/diagnosis/events.ts'

export const passed = (
  step: Step,
  evidence: readonly string[],
  remarkable?: { readonly code: string; readonly remedy: string },
): Finding => ({ step, verdict: 'passed', evidence, ...remarkable })

export const failing = (
  step: Step,
  code: string,
  evidence: readonly string[],
  remedy: string,
): Finding => ({ step, verdict: 'failed', code, evidence, remedy })

export const skipped = (step: Step, why: string, remedy?: string): Finding => ({
  step,
  verdict: 'skipped',
  evidence: [why],
  ...(remedy !== undefined && { remedy }),
})

export const hasFailed = (findings: readonly Finding[], step: Step): boolean =>
  findings.some((finding) => finding.step === step && finding.verdict === 'failed')
