/** Which updates a key wants, and from which id on. */

import t from 'tap'
import {
  bothKinds,
  changeFilter,
  currentlyWanted,
  DEFAULT_KINDS,
  type Filter,
  hasKind,
  kindNumber,
  namesWanted,
  OTHER_KIND,
  pruneFilter,
  UPDATE_KINDS,
  type Wanted,
  wantedFrom,
  wants,
} from '../../../machines/model/update-kinds.ts'
import fc from '../../support/fast-check.ts'

const known = (...names: string[]) => wantedFrom(names, { others: false })
const any = (...names: string[]) => wantedFrom(names, { others: true })
const byDefault: Wanted = { kinds: DEFAULT_KINDS }
const update = (name: string, updateId = 1) => ({
  updateId,
  kind: kindNumber(name),
  payload: `"${name}":{"id":1}`,
})

t.test('allowed_updates is read as the reference reads it', async (t) => {
  t.same(namesWanted(known('message', 'poll')), ['message', 'poll'])
  t.same(namesWanted(known('MESSAGE', 'Chat_Member')), ['message', 'chat_member'])
  t.same(namesWanted(known('message', 'no_such_thing')), ['message'])
  t.same(known(), byDefault)
  t.same(known('no_such_thing'), byDefault)
  t.same(any('no_such_thing'), byDefault)
})

t.test('the default is everything but what has to be asked for', async (t) => {
  const filter: Filter = [{ from: 0, ...byDefault }]
  const optIn = UPDATE_KINDS.filter((kind) => !wants(filter, update(kind)))
  const expected = ['chat_member', 'message_delivered', 'message_reaction']
  t.same([...optIn].sort(), [...expected, 'message_reaction_count', 'message_read'])
  t.ok(wants(filter, update('a_kind_of_next_year')))
  t.equal(namesWanted(byDefault), undefined)
})

t.test('names and numbers of all kinds belong together', async (t) => {
  t.ok(UPDATE_KINDS.length < OTHER_KIND, 'a set of kinds is an integer that a double holds exactly')
  t.same(namesWanted(known(...UPDATE_KINDS)), [...UPDATE_KINDS])
  for (const kind of UPDATE_KINDS) {
    const filter = [{ from: 0, ...known(kind) }]
    t.same(
      UPDATE_KINDS.filter((other) => wants(filter, update(other))),
      [kind],
    )
    t.notOk(wants(filter, update('a_kind_of_next_year')))
  }
})

t.test('kinds without a number are wanted by name, where such kinds may come', async (t) => {
  const wanted = any('message', 'One', 'two', 'one', 'no name', 'x'.repeat(65))
  t.same(namesWanted(wanted), ['message', 'one', 'two'])
  const filter = [{ from: 5, ...wanted }]
  const names = ['message', 'poll', 'one', 'two', 'three']
  t.same(
    names.filter((name) => wants(filter, update(name, 5))),
    ['message', 'one', 'two'],
  )
  t.same(
    names.filter((name) => wants(filter, update(name, 4))),
    names,
    'before, the default',
  )
  t.notOk(wants([{ from: 0, ...any('message') }], update('one')))
  t.equal(any('message', ...Array.from({ length: 500 }, (_, n) => `k${n}`)).others?.length, 100)
})

t.test('setting the same kinds again changes nothing', async (t) => {
  const filter: Filter = [{ from: 5, ...known('poll') }]
  t.equal(changeFilter(filter, known('poll'), 9), filter)
  t.same(changeFilter([], byDefault, 9), [])
  const named: Filter = [{ from: 5, ...any('poll', 'one') }]
  t.equal(changeFilter(named, any('one', 'poll'), 9), named)
  t.same(changeFilter(named, any('poll', 'two'), 9), [...named, { from: 9, ...any('poll', 'two') }])
})

t.test('two changes before the next update count as the last one', async (t) => {
  const once = changeFilter([], known('poll'), 9)
  t.same(changeFilter(once, known('message'), 9), [{ from: 9, kinds: 1 }])
})

t.test('the default is kept without a number, because it grows', async (t) => {
  const filter = changeFilter([{ from: 2, ...known('poll') }], byDefault, 9)
  t.same(filter, [{ from: 2, kinds: 2 ** 17 }, { from: 9 }])
  t.same(currentlyWanted(filter), byDefault)
  t.ok(wants(filter, update('message', 9)))
  t.notOk(wants(filter, update('message', 8)))
})

const sets = fc.maxSafeNat()

t.test('a set of 53 kinds is read as its bits say', async () => {
  fc.assert(
    fc.property(sets, sets, (one, other) => {
      const [a, b] = [BigInt(one), BigInt(other)]
      if (BigInt(bothKinds(one, other)) !== (a | b)) throw new Error('the union')
      for (let kind = 0; kind <= OTHER_KIND; kind++) {
        if (hasKind(one, kind) !== (((a >> BigInt(kind)) & 1n) === 1n)) throw new Error(`${kind}`)
      }
    }),
  )
})

/** Changes of the kinds, each some ids after the one before. */
const changes = fc.array(fc.record({ after: fc.nat(5), kinds: sets, confirm: fc.nat(8) }), {
  maxLength: 12,
})

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
        filter = changeFilter(filter, step, next)
        kinds = step.kinds
        cursor = Math.min(next - 1, Math.max(cursor, cursor + step.confirm - 4))
        filter = pruneFilter(filter, cursor)
        if (currentlyWanted(filter).kinds !== kinds) throw new Error('the kinds of now are lost')
      }
      for (const [updateId, then] of setting) {
        if (updateId <= cursor) continue
        for (const kind of [0, 1, 2, 30, 31, 32, 33, 51, 52]) {
          const expected = ((BigInt(then) >> BigInt(kind)) & 1n) === 1n
          const isWanted = wants(filter, { updateId, kind, payload: '' })
          if (isWanted !== expected) throw new Error(`${updateId}, kind ${kind}`)
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
