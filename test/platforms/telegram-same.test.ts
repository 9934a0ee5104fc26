/** People of an answer that are known already are told from those that have changed. */
import { isDeepStrictEqual } from 'node:util'
import { Long } from '@mtcute/node'
import t from 'tap'
import { isSame } from '../../src/platforms/telegram/storage/peers.ts'
import fc from '../support/fast-check.ts'

/** As the network sends them: an absent member is left out, and none is empty. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom<unknown>(null, true, 'a', 7),
    fc.tuple(fc.nat(1), fc.nat(1)).map(([low, high]) => new Long(low, high)),
    fc.uint8Array({ maxLength: 2, max: 1 }),
    fc.array(tie('value'), { minLength: 1, maxLength: 2 }),
    fc.dictionary(fc.constantFrom('_', 'id'), tie('value'), { minKeys: 1, noNullPrototype: true }),
  ),
}))

t.test('two are the same where Node.js finds the same content', async () => {
  const isRight = (one: unknown, other: unknown) =>
    isSame(one, other) === isDeepStrictEqual(one, other)
  fc.assert(fc.property(value, value, isRight), { numRuns: 20_000 })
  const person = fc.record({ _: fc.constant('user'), id: value, hash: value })
  const changed = fc.tuple(person, value).map(([one, id]) => [one, { ...one, id }] as const)
  fc.assert(fc.property(changed, ([one, other]) => isRight(one, other)))
  fc.assert(fc.property(person, ({ hash, ...less }) => isRight(less, { ...less, hash })))
})
