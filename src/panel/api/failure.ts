/** What the service answers when it refuses, and what stands for no answer at all. */
export class ApiFailure extends Error {
  /** 0 when there was no answer. */
  readonly status: number
  readonly retryAfter: number | undefined
  readonly fields: readonly { readonly field: string; readonly reason: string }[]

  constructor(
    status: number,
    description: string,
    more: { retryAfter?: number; fields?: ApiFailure['fields'] } = {},
  ) {
    super(description)
    this.status = status
    this.retryAfter = more.retryAfter
    this.fields = more.fields ?? []
  }
}

/** It was there before, perhaps, and is no more. */
export const isGone = (cause: unknown): boolean =>
  cause instanceof ApiFailure && cause.status === 404

interface Envelope {
  readonly ok: boolean
  readonly result?: unknown
  readonly description?: string
  readonly parameters?: { readonly retry_after?: number }
  readonly errors?: ApiFailure['fields']
}

/** The result of an answer; throws an `ApiFailure` when there is none. */
export async function resultOf<Result>(response: Response): Promise<Result> {
  const envelope = (await response.json().catch(() => undefined)) as Envelope | undefined
  if (!envelope) throw withoutEnvelope(response)
  if (envelope.ok) return envelope.result as Result
  const retryAfter = envelope.parameters?.retry_after
  throw new ApiFailure(response.status, envelope.description ?? response.statusText, {
    ...(retryAfter !== undefined && { retryAfter }),
    ...(envelope.errors && { fields: envelope.errors }),
  })
}

/** An answer that was cut off, or that of a proxy which did not reach the service. */
const withoutEnvelope = ({ ok, status, statusText }: Response) =>
  ok || status >= 500
    ? new ApiFailure(0, 'no answer')
    : new ApiFailure(status, statusText || `${status}`)

/** Without the prefix that only repeats the status. */
export const plainText = (cause: unknown): string =>
  cause instanceof Error
    ? cause.message.replace(
        /^(Bad Request|Unauthorized|Forbidden|Not Found|Conflict|Too Many Requests|Service Unavailable|Bad Gateway|Gateway Timeout): /,
        '',
      )
    : String(cause)
