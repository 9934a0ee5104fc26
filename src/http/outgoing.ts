/** A file on its way to a client: the memory of each piece is free again as soon as the network has taken it. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { giveBackLent } from '../media/give-back.ts'

export function outgoing(source: Readable, raw: ServerResponse): Readable {
  const waiting: { readonly chunk: Buffer; readonly end: number }[] = []
  let total = 0
  async function* pieces() {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      // What is neither here nor with the response any more has left the process.
      const gone = total - stream.readableLength - raw.writableLength
      while (waiting[0] && waiting[0].end <= gone) {
        const piece = waiting.shift()
        if (piece) giveBackLent(piece.chunk)
      }
      total += chunk.length
      waiting.push({ chunk, end: total })
      yield chunk
    }
  }
  const stream: Readable = Readable.from(pieces(), { objectMode: false, highWaterMark: 65_536 })
  return stream.once('close', () => source.destroy())
}
