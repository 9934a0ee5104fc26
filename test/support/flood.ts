/** A peer that says something without end, as fast as it is read. */
import type { Writable } from 'node:stream'

/** Writes until the other side closes. Returns how many bytes were written so far. */
export function flood(socket: Writable, head: string, piece: Buffer): () => number {
  let written = 0
  const pour = () => {
    do written += piece.length
    while (!socket.destroyed && socket.write(piece))
  }
  socket.on('drain', pour)
  socket.write(head)
  pour()
  return () => written
}
