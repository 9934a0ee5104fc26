/** Turns a stream of bytes into a web stream. The source always ends with it, whether it was read or cancelled. */
import type { Readable } from 'node:stream'

/**
 * `Readable.toWeb` throws past every caller when its source goes on after a cancellation, and `ReadableStream.from`
 * leaves a source open that nobody has begun to read. Here `cancel` destroys the source in every case, and with it
 * the connection it comes from. The first `skip` bytes are left out.
 */
export function webStream(source: Readable, skip = 0): ReadableStream<Uint8Array> {
  // A source may break off before it is read, or after its reader has left. Who reads gets the error by the iterator.
  source.on('error', ignored)
  return webStreamOf(without(skip, source[Symbol.asyncIterator]()), () => source.destroy())
}

/** The same for bytes that come from no stream of Node; `cancel` has to end whatever brings them. */
export function webStreamOf(
  chunks: AsyncIterator<Uint8Array>,
  cancel: (reason: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
}

async function* without(skip: number, chunks: AsyncIterator<Uint8Array>) {
  let left = skip
  for (;;) {
    const { value, done } = await chunks.next()
    if (done) return
    const rest = value.subarray(Math.min(left, value.length))
    left -= value.length - rest.length
    if (rest.length > 0) yield rest
  }
}

const ignored = () => undefined
