/** Uploads may take longer than other requests, as long as they keep coming. */
import type { IncomingMessage } from 'node:http'

export const LEAST_BYTES_PER_SECOND = 10_000

/** Only the bot API takes files; every other body is short. */
const isUpload = ({ url = '', headers, complete }: IncomingMessage): boolean =>
  !complete && url.startsWith('/bot') && /^multipart\//i.test(headers['content-type'] ?? '')

/**
 * Whether the time of this request is over after all. If not, it is looked at again after each `windowMs`, and
 * `onSlow` is called once too little has come.
 */
export function mayGoOn(
  request: IncomingMessage | undefined,
  windowMs: number,
  onSlow: () => void,
): boolean {
  if (!request || !isUpload(request)) return false
  const { socket } = request
  const least = (LEAST_BYTES_PER_SECOND * windowMs) / 1_000
  let seen = socket.bytesRead
  const look = setInterval(() => {
    const came = socket.bytesRead - seen
    seen = socket.bytesRead
    if (!request.complete && came >= least) return
    clearInterval(look)
    if (!request.complete) onSlow()
  }, windowMs)
  socket.once('close', () => clearInterval(look))
  return true
}
