/** The members of a JSON object in the order of its text, those of one name included. */

import t from 'tap'
import { membersInOrder } from '../../src/http/bot/parameters.ts'
import { memberCount } from '../../src/json/spans.ts'
import fc from '../support/fast-check.ts'

t.test('members of one name stand side by side', async (t) => {
  const text = ' { "a" : 1 , "b":"},{\\"", "a":[{"a":2}, ":"], "a":null } '
  t.same(membersInOrder(text), [
    ['a', 1],
    ['b', '},{"'],
    ['a', [{ a: 2 }, ':']],
    ['a', null],
  ])
  t.equal(memberCount(text), 4)
  t.same(membersInOrder('{}'), [])
  t.equal(memberCount(' { } '), 0)
})

t.test('whatever they are', async () => {
  const member = fc.tuple(fc.string({ unit: 'binary' }), fc.jsonValue())
  fc.assert(
    fc.property(fc.array(member), fc.constantFrom('', ' ', '\n\t'), (members, gap) => {
      const written = members.map(([name, value]) =>
        [gap, JSON.stringify(name), gap, ':', gap, JSON.stringify(value, null, gap), gap].join(''),
      )
      const text = `${gap}{${written.join(',')}}${gap}`
      const asJson = JSON.parse(JSON.stringify(members))
      return (
        memberCount(text) === members.length &&
        JSON.stringify(membersInOrder(text)) === JSON.stringify(asJson)
      )
    }),
  )
})
