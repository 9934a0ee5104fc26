/** Bytes that come in pieces of any size: all of them, in their order, and little memory for many small ones. */
import t from 'tap'
import { Gathered } from '../../src/media/give-back.ts'
import fc from '../support/fast-check.ts'

t.test('they are the same bytes in the same order', async (t) => {
  const length = fc.oneof(fc.nat(3), fc.integer({ min: 500, max: 530 }), fc.constant(20_000))
  fc.assert(
    fc.property(fc.array(length, { maxLength: 40 }), (lengths) => {
      const given = lengths.map((bytes, place) => Buffer.alloc(bytes, place + 1))
      const gathered = new Gathered()
      for (const piece of given) {
        gathered.add(piece)
        // Looking at them in between changes nothing.
        if (piece.length === 1) t.ok(gathered.pieces.length > 0)
      }
      t.ok(Buffer.concat(gathered.pieces).equals(Buffer.concat(given)))
    }),
  )
})

t.test('a million pieces of a byte are few buffers, and one piece stays itself', async (t) => {
  const many = new Gathered()
  for (let piece = 0; piece < 1_000_000; piece++) many.add(Buffer.from([piece % 251]))
  t.ok(many.pieces.length < 70, `${many.pieces.length} buffers`)
  const one = new Gathered()
  const piece = Buffer.from('a')
  one.add(piece)
  t.equal(one.pieces[0], piece)
})
