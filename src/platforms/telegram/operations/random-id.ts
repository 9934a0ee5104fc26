/** The number by which the network knows a send again: made of the request's own id. */
import { createHash } from 'node:crypto'
import { Long } from '@mtcute/node'

/** `place` tells the messages of one request apart. */
export function randomId(requestId: string, place = 0): Long {
  const hash = createHash('sha256').update(`${requestId}:${place}`).digest()
  return new Long(hash.readInt32LE(0), hash.readInt32LE(4))
}
