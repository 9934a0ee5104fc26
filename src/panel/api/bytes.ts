/** A file of the service, which wants the access token that an image's address cannot carry. */
import { ApiFailure } from './failure.ts'
import { accessToken } from './session.ts'

export async function bytesOf(path: string, type: string, signal: AbortSignal): Promise<Blob> {
  const authorization = `Bearer ${await accessToken()}`
  const response = await fetch(path, { headers: { authorization }, signal, credentials: 'omit' })
  if (!response.ok) throw new ApiFailure(response.status, response.statusText)
  return new Blob([await response.arrayBuffer()], { type })
}
