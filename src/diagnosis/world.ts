/** The port and the facts that the steps of a diagnosis see, and how they say their findings. */
import type { CredentialActor } from '../../actors/credential/actor.ts'
import type { LastPoll } from '../../machines/api-key/events.ts'
import type { Finding, Step } from '../../machines/diagnosis/events.ts'
import type { FindingCode, Sentence, Sentences } from '../../machines/diagnosis/facts.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { FailureReason } from '../../machines/model/reason.ts'
import type { Irregularities } from '../credentials/health.ts'
import type { ApiKeyRecord } from '../records/api-key.ts'
import type { CredentialRecord } from '../records/credential.ts'

export interface DiagnosedWebhook {
  /** Without user info and query. */
  readonly url: string
  readonly isSuspended: boolean
  /** In a row, up to now. */
  readonly failures: number
  readonly lastError: { readonly at: Date; readonly message: string } | undefined
  /** How long the last attempts that worked took, on average; undefined where there are none of late. */
  readonly answersMs: number | undefined
  /** The status of the newest attempt; undefined without an attempt or an answer. */
  readonly lastStatus: number | undefined
}

export interface ReceivingFacts {
  readonly mode: 'none' | 'polling' | 'webhook'
  readonly pending: number
  readonly dropped: { readonly updates: number; readonly at: string } | undefined
  readonly webhook: DiagnosedWebhook | undefined
  /** A webhook that was removed because its endpoint said that it is gone; undefined once the key has polled. */
  readonly turnedOff: DiagnosedWebhook | undefined
  /** The kinds of what came lately, where the filter of the key has left out all of it. */
  readonly leftOut: readonly string[]
  /** When the oldest update came that waits, where the key polls and is behind for so long that it is an alert. */
  readonly behindSince: Date | undefined
}

export const TELLING = [
  'missing_scope',
  'address_not_allowed',
  'webhook_active',
  'webhook_changed',
  'other_poll',
] as const satisfies readonly FailureReason[]

export interface Refusal {
  readonly at: Date
  readonly reason: (typeof TELLING)[number]
  /** The scope that the key lacked. */
  readonly scope: string | null
  /** Where the call came from. */
  readonly address: string
}

export interface ExaminerWorld {
  now(): number
  /** A round trip that takes longer is slow. */
  readonly slowAfterMs: number
  /** For how long updates are kept. */
  readonly updatesLastMs: number
  key(userId: number, apiKeyId: number): Promise<ApiKeyRecord>
  /** Why the user is suspended; undefined: they are not. */
  suspendedWhy(userId: number): string | undefined
  credential(userId: number, credentialId: number): Promise<CredentialRecord>
  actor(credentialId: number): Promise<CredentialActor>
  /** The account as getMe shows it. */
  profile(credentialId: number): Promise<Json>
  readonly irregularities: Pick<Irregularities, 'of'>
  receiving(key: ApiKeyRecord): Promise<ReceivingFacts>
  /** The latest refusals of the key's calls, newest first. */
  refusals(apiKeyId: number): Promise<readonly Refusal[]>
  /** Calls that were answered with 429 in the last ten minutes. */
  paced(apiKeyId: number): Promise<number>
  lastPoll(apiKeyId: number): LastPoll | undefined
  /** Whether a client polls with the key, or did so a moment ago. */
  isPolled(apiKeyId: number, withinMs?: number): boolean
}

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
