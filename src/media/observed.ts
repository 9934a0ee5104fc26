/** A stored file that is read for somebody who waits until it is on the network. */
import { pipeline, type Readable, Transform } from 'node:stream'
import { blobMoved, isWatched } from '../../actors/credential/transfers.ts'

/** The same bytes; whoever watches the blob is told with each piece that was taken. */
export function observed(blob: string, stream: Readable): Readable {
  if (!isWatched(blob)) return stream
  const passing = new Transform({
    transform(chunk, _, next) {
      blobMoved(blob)
      next(null, chunk)
    },
  })
  // An error of the one is an error of the other, and so is an early end.
  return pipeline(stream, passing, () => undefined)
}
