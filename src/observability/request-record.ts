/** One answered request as the log keeps it: what its owner may see, nothing secret. */
import type { FailureReason, Params } from '../../machines/model/reason.ts'

export interface RequestRecord {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly requestId: string
  readonly userId: number | null
  readonly apiKeyId: number | null
  readonly credentialId: number | null
  /** A bot method's name, or the verb and route pattern of a management call. */
  readonly method: string
  readonly status: number
  readonly errorCode: number | null
  readonly description: string | null
  /** Why it failed, where the error code alone does not say it. */
  readonly reason: FailureReason | null
  readonly params: Params | null
  readonly durationMs: number
  readonly requestBytes: number
  readonly responseBytes: number
  readonly ip: string
  readonly userAgent: string | null
}
