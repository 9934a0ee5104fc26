/** Turns a stream of bytes into a web stream. The source always ends with it, whether it was read or cancelled. */
import type { Readable } from 'node:stream'

/**
 * `Readable.toWeb` throws an uncaught error if its source continues after a cancellation, and `ReadableStream.from`
 * leaves an unread source open. Here `cancel` always destroys the source, and with it the connection it comes from. The
 * first `skip` bytes are left out.
 */
export function webStream(source: Readable, skip = 0): ReadableStream<Uint8Array> {
  // A source may fail before it is read, or after its reader has left. A reader gets the error from the iterator.
  source.on('error', ignored)
  return webStreamOf(without(skip, source[Symbol.asyncIterator]()), () => source.destroy())
}

/** The same for bytes that do not come from a Node.js stream; `cancel` has to end their source. */
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
