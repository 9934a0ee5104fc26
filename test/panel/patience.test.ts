/** A stream that falls silent is given up; one that goes on, however slowly, is read to its end. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'

interface Patience {
  piecesOf(stream: ReadableStream<string>, silentMs: number): AsyncGenerator<string>
}

// The panel is checked by a project of its own.
const { piecesOf } = (await import(
  join(import.meta.dirname, '../../src/panel/api/stream.ts')
)) as Patience

const read = async (stream: ReadableStream<string>, silentMs: number) => {
  const pieces: string[] = []
  try {
    for await (const piece of piecesOf(stream, silentMs)) pieces.push(piece)
    return { pieces }
  } catch (cause) {
    return { pieces, cause }
  }
}

t.test('a stream that falls silent is given up', async (t) => {
  const stream = new ReadableStream<string>({ start: (brings) => brings.enqueue('one') })
  t.match(await read(stream, 50), { pieces: ['one'], cause: { message: 'nothing for 50 ms' } })
})

t.test('a slow one is read to its end', async (t) => {
  const stream = ReadableStream.from(
    (async function* () {
      yield 'one'
      await pause(20)
      yield 'two'
    })(),
  )
  t.same(await read(stream, 60_000), { pieces: ['one', 'two'] })
})
