/** One call of the management API with the current access token. */
import { ApiFailure, resultOf } from './failure.ts'
import { accessToken, noticeSuspension } from './session.ts'
import { piecesOf, within } from './stream.ts'
import { viewingHeaders } from './viewing.ts'

interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object
  readonly signal?: AbortSignal | undefined
}

const TIMEOUT_MS = 60_000

export async function call<Result>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  options: CallOptions = {},
): Promise<Result> {
  const { signal } = options
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const ends = signal ? AbortSignal.any([signal, timeout]) : timeout
  const response = await send(method, path, { ...options, signal: ends }).catch((cause) => {
    throw signal?.aborted ? cause : unanswered(cause)
  })
  return resultOf<Result>(response).catch((cause) => {
    noticeSuspension(cause)
    throw cause
  })
}

/** The session may have been renewed elsewhere, or the service may sign with another key now. */
async function send(method: string, path: string, options: CallOptions): Promise<Response> {
  const response = await sendAs(await accessToken(), method, path, options)
  return response.status === 401 ? sendAs(await accessToken(true), method, path, options) : response
}

const unanswered = (cause: unknown): unknown =>
  cause instanceof ApiFailure ? cause : new ApiFailure(0, 'no answer')

export function addressOf(path: string, query: CallOptions['query'] = {}): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string | number] => pair[1] !== undefined && pair[1] !== '',
  )
  const text = new URLSearchParams(given.map(([name, value]) => [name, `${value}`])).toString()
  return text === '' ? path : `${path}?${text}`
}

const sendAs = (
  token: string,
  method: string,
  path: string,
  { query, body, signal }: CallOptions,
): Promise<Response> =>
  fetch(addressOf(path, query), {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...viewingHeaders(path),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })

/** Saves the answer as a file of this name. It may take as long as it comes: only silence ends it. */
export async function save(path: string, options: CallOptions, name: string): Promise<void> {
  const over = new AbortController()
  const pieces: Uint8Array<ArrayBuffer>[] = []
  try {
    const asked = send(options.body ? 'POST' : 'GET', path, { ...options, signal: over.signal })
    const response = await within(asked, TIMEOUT_MS)
    if (!response.ok || !response.body) return await resultOf<void>(response)
    for await (const piece of piecesOf(response.body, TIMEOUT_MS)) pieces.push(piece)
  } catch (cause) {
    throw unanswered(cause)
  } finally {
    over.abort()
  }
  const address = URL.createObjectURL(new Blob(pieces))
  Object.assign(document.createElement('a'), { href: address, download: name }).click()
  URL.revokeObjectURL(address)
}
