/** A request that needs no sign-in, and the error of any call: a refusal by the service, or no answer. */

export class ApiFailure extends Error {
  /** 0 when there was no answer. */
  readonly status: number
  readonly retryAfter: number | undefined
  /** Why, for translators; undefined where the status says it, or where there is no translation. */
  readonly why: Coded | undefined
  readonly fields: readonly FieldProblem[]

  constructor(
    status: number,
    description: string,
    more: { retryAfter?: number; why?: Coded; fields?: readonly FieldProblem[] } = {},
  ) {
    super(description)
    this.status = status
    this.retryAfter = more.retryAfter
    this.why = more.why
    this.fields = more.fields ?? []
  }
}

/** A code of the service with the values of its sentence. */
export interface Coded {
  readonly code: string
  readonly params?: Readonly<Record<string, string | number>>
}

interface FieldProblem extends Partial<Coded> {
  readonly field: string
  /** In English, going on from the field's name. */
  readonly reason: string
}

/** Whether the record does not exist, perhaps because it was deleted. */
export const isGone = (cause: unknown): boolean =>
  cause instanceof ApiFailure && cause.status === 404

interface Envelope extends Partial<Coded> {
  readonly ok: boolean
  readonly result?: unknown
  readonly description?: string
  readonly parameters?: { readonly retry_after?: number }
  readonly errors?: readonly FieldProblem[]
}

/** The result of an answer; throws an `ApiFailure` when there is none. */
export async function resultOf<Result>(response: Response): Promise<Result> {
  const envelope = (await response.json().catch(() => undefined)) as Envelope | undefined
  if (!envelope) throw withoutEnvelope(response)
  if (envelope.ok) return envelope.result as Result
  const retryAfter = envelope.parameters?.retry_after
  throw new ApiFailure(response.status, envelope.description ?? response.statusText, {
    ...(retryAfter !== undefined && { retryAfter }),
    ...(isCoded(envelope) && { why: envelope }),
    ...(envelope.errors && { fields: envelope.errors }),
  })
}

/** An incomplete answer, or the answer of a proxy that did not reach the service. */
const withoutEnvelope = ({ ok, status, statusText }: Response) =>
  ok || status >= 500
    ? new ApiFailure(0, 'no answer')
    : new ApiFailure(status, statusText || `${status}`)

export const isCoded = (value: Partial<Coded>): value is Coded => value.code !== undefined

/** The prefix of descriptions for each status. */
const prefixes: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** The description without the prefix that repeats the status; empty where there is nothing else. */
export function detailOf({ status, message }: ApiFailure): string {
  const prefix = prefixes[status]
  if (prefix === undefined) return message
  if (message === prefix) return ''
  return message.startsWith(`${prefix}: `) ? message.slice(prefix.length + 2) : message
}

const TIMEOUT_MS = 60_000

export async function ask<Result>(path: string, init: RequestInit = {}): Promise<Result> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(path, { ...init, signal }).catch(() => {
    throw new ApiFailure(0, 'no answer')
  })
  return resultOf<Result>(response)
}

/** The body, sent as JSON. */
export const posting = (body: object, headers: Readonly<Record<string, string>> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
