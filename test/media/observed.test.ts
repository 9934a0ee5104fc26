/** A stored file that somebody waits for is the same file, with its end and its errors. */
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { watchBlobs } from '../../actors/credential/perform.ts'
import { observed } from '../../src/media/service.ts'

const pieces = ['one', 'two', 'three'].map((piece) => Buffer.from(piece))

function watched(t: Test, source: Readable) {
  const seen = { moves: 0 }
  t.teardown(
    watchBlobs(['blob'], () => {
      seen.moves += 1
    }),
  )
  return { seen, stream: observed('blob', source) }
}

t.test('its bytes are the same, and each piece is told', async (t) => {
  const { seen, stream } = watched(t, Readable.from(pieces))
  t.equal(seen.moves, 0)
  t.strictSame(await buffer(stream), Buffer.concat(pieces))
  t.equal(seen.moves, 3)
})

t.test('damage is told, and an early end reaches the source', async (t) => {
  const damaged = new Readable({ read: () => undefined })
  const { stream } = watched(t, damaged)
  damaged.destroy(new Error('damaged'))
  await t.rejects(buffer(stream), { message: 'damaged' })

  const source = new Readable({ read: () => undefined })
  const { stream: left } = watched(t, source)
  const closed = new Promise((resolve) => source.once('close', resolve))
  left.destroy()
  await closed
})

t.test('where nobody waits, it is read as it is', async (t) => {
  const source = Readable.from(pieces)
  t.equal(observed('blob', source), source)
})
