/** Makes the findings of the steps, and the sentences in them. */
import type { Finding, Step } from '../../machines/diagnosis/events.ts'
import type { FindingCode, Sentence, Sentences } from '../../machines/diagnosis/facts.ts'

type PlainCode = {
  [Code in keyof Sentences]: Record<never, never> extends Sentences[Code] ? Code : never
}[keyof Sentences]

/** A sentence by its code and its values. */
export function say(code: PlainCode): Sentence
export function say<Code extends keyof Sentences>(code: Code, params: Sentences[Code]): Sentence
export function say(code: keyof Sentences, params: object = {}): Sentence {
  return { code, params } as Sentence
}

export const passed = (
  step: Step,
  evidence: readonly Sentence[],
  remarkable?: { readonly code: FindingCode; readonly remedy: Sentence },
): Finding => ({ step, verdict: 'passed', evidence, ...remarkable })

export const failing = (
  step: Step,
  code: FindingCode,
  evidence: readonly Sentence[],
  remedy: Sentence,
): Finding => ({ step, verdict: 'failed', code, evidence, remedy })

export const skipped = (step: Step, why: Sentence, remedy?: Sentence): Finding => ({
  step,
  verdict: 'skipped',
  evidence: [why],
  ...(remedy !== undefined && { remedy }),
})

export const hasFailed = (findings: readonly Finding[], step: Step): boolean =>
  findings.some((finding) => finding.step === step && finding.verdict === 'failed')
