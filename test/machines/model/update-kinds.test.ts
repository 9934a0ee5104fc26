/** Which updates a key wants, and from which id on. */

import t from 'tap'
import {
  changeFilter,
  currentKinds,
  DEFAULT_KINDS,
  type Filter,
  kindNames,
  kindNumber,
  kindsFrom,
  pruneFilter,
  UPDATE_KINDS,
  wants,
} from '../../../machines/model/update-kinds.ts'
import fc from '../../support/fast-check.ts'

t.test('allowed_updates is read as the reference reads it', async (t) => {
  t.same(kindNames(kindsFrom(['message', 'poll'])), ['message', 'poll'])
  t.same(kindNames(kindsFrom(['MESSAGE', 'Chat_Member'])), ['message', 'chat_member'])
  t.same(kindNames(kindsFrom(['message', 'no_such_thing'])), ['message'])
  t.equal(kindsFrom([]), DEFAULT_KINDS)
  t.equal(kindsFrom(['no_such_thing']), DEFAULT_KINDS)
})

t.test('the default is everything but what has to be asked for', async (t) => {
  const optIn = UPDATE_KINDS.filter((kind) => !kindNames(DEFAULT_KINDS).includes(kind))
  t.same([...optIn].sort(), ['chat_member', 'message_reaction', 'message_reaction_count'])
})

t.test('names and numbers of all kinds belong together', async (t) => {
  t.ok(UPDATE_KINDS.length < 31, 'a set of kinds is a positive integer')
  t.same(kindNames(kindsFrom(UPDATE_KINDS)), [...UPDATE_KINDS])
  for (const kind of UPDATE_KINDS) {
    t.ok(wants([{ from: 0, kinds: kindsFrom([kind]) }], 1, kindNumber(kind)))
  }
})

t.test('setting the same kinds again changes nothing', async (t) => {
  const filter: Filter = [{ from: 5, kinds: kindsFrom(['poll']) }]
  t.equal(changeFilter(filter, kindsFrom(['poll']), 9), filter)
  t.same(changeFilter([], DEFAULT_KINDS, 9), [])
})

t.test('two changes before the next update count as the last one', async (t) => {
  const once = changeFilter([], kindsFrom(['poll']), 9)
  t.same(changeFilter(once, kindsFrom(['message']), 9), [{ from: 9, kinds: 1 }])
})

/** Changes of the kinds, each some ids after the one before. */
const changes = fc.array(
  fc.record({ after: fc.nat(5), kinds: fc.integer({ min: 1, max: 7 }), confirm: fc.nat(8) }),
  { maxLength: 12 },
)

t.test('an update is wanted by what was set when its id was next, pruned or not', async () => {
  fc.assert(
    fc.property(changes, (steps) => {
      let filter: Filter = []
      let next = 10
      let cursor = 9
      const setting = new Map<number, number>()
      let kinds = DEFAULT_KINDS
      for (const step of steps) {
        for (let id = next; id < next + step.after; id++) setting.set(id, kinds)
        next += step.after
        filter = changeFilter(filter, step.kinds, next)
        kinds = step.kinds
        cursor = Math.min(next - 1, Math.max(cursor, cursor + step.confirm - 4))
        filter = pruneFilter(filter, cursor)
        if (currentKinds(filter) !== kinds) throw new Error('the kinds of now are lost')
      }
      for (const [id, then] of setting) {
        if (id <= cursor) continue
        for (const kind of [0, 1, 2]) {
          const expected = (then & (1 << kind)) !== 0
          if (wants(filter, id, kind) !== expected) throw new Error(`${id}, kind ${kind}`)
        }
      }
    }),
  )
})

t.test('entries that only concern confirmed updates are forgotten', async (t) => {
  const filter: Filter = [1, 5, 9].map((from) => ({ from, kinds: from }))
  t.same(pruneFilter(filter, 0), filter)
  t.same(pruneFilter(filter, 3), filter)
  t.same(pruneFilter(filter, 4), filter.slice(1), 'the next to be read is 5')
  t.same(pruneFilter(filter, 100), filter.slice(2), 'what is in force stays')
})
