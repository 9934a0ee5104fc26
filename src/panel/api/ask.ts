/** A request that needs no sign-in, with a time limit. */
import { ApiFailure, resultOf } from './failure.ts'

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
