/** One answered request as the log keeps it: what its owner may see, nothing secret. */

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
  readonly durationMs: number
  readonly requestBytes: number
  readonly responseBytes: number
  readonly ip: string
  readonly userAgent: string | null
}
