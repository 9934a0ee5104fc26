/** One call of the management API with the current access token. */
import { ApiFailure, resultOf } from './failure.ts'
import { accessToken } from './session.ts'

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
  const response = await send(method, path, options, await accessToken())
  if (response.status !== 401) return resultOf<Result>(response)
  return resultOf<Result>(await send(method, path, options, await accessToken(true)))
}

export function addressOf(path: string, query: CallOptions['query'] = {}): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string | number] => pair[1] !== undefined && pair[1] !== '',
  )
  const text = new URLSearchParams(given.map(([name, value]) => [name, `${value}`])).toString()
  return text === '' ? path : `${path}?${text}`
}

function send(
  method: string,
  path: string,
  { query, body, signal }: CallOptions,
  token: string,
): Promise<Response> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  return fetch(addressOf(path, query), {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause
    throw new ApiFailure(0, 'no answer')
  })
}

/** Saves the answer as a file of this name. */
export async function save(path: string, options: CallOptions, name: string): Promise<void> {
  const method = options.body ? 'POST' : 'GET'
  const response = await send(method, path, options, await accessToken())
  if (!response.ok) return resultOf<void>(response)
  const address = URL.createObjectURL(await response.blob())
  Object.assign(document.createElement('a'), { href: address, download: name }).click()
  URL.revokeObjectURL(address)
}
