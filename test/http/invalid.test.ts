/** What is wrong with a value that may have several forms: what the form lacks that was meant, else which forms there are. */
import t from 'tap'
import { type TSchema, Type } from 'typebox'
import { problemsOf, validators } from '../../src/http/validation.ts'

/** What is said of a member `value` of a body. */
function reasons(form: TSchema, value: unknown) {
  const schema = Type.Object({ value: form })
  const validate = validators()({ schema, method: 'POST', url: '/', httpPart: 'body' })
  t.notOk(validate({ value }), `${JSON.stringify(value)} is refused`)
  return problemsOf(validate.errors as Parameters<typeof problemsOf>[0]).map(
    ({ field, reason }) => `${field} ${reason}`,
  )
}

t.test('a value of another type than all forms is told their types', async (t) => {
  const icon = Type.Object({ emoji: Type.String() })
  const numberOrName = Type.Union([Type.Integer(), Type.String({ pattern: '^@' })])
  t.strictSame(reasons(numberOrName, true), ['value must be an integer or a string'])
  t.strictSame(reasons(Type.Union([icon, Type.Literal('')]), 5), [
    'value must be an object or a string',
  ])
  t.strictSame(reasons(Type.Union([Type.Literal('hour'), Type.Literal('day')]), 5), [
    'value must be a string',
  ])
})

t.test('a value of one form is told what is wrong with that form', async (t) => {
  const icon = Type.Object({ emoji: Type.String(), color: Type.Integer() })
  const numberOrName = Type.Union([Type.Integer(), Type.String({ pattern: '^@' })])
  t.strictSame(reasons(numberOrName, 'ada'), ['value does not have the expected form'])
  t.strictSame(reasons(Type.Union([Type.Literal(''), icon]), { emoji: 5 }), [
    'value.color is required',
    'value.emoji must be a string',
  ])
  t.strictSame(reasons(Type.Union([Type.Literal('hour'), Type.Literal('day')]), 'week'), [
    'value must be one of hour, day',
  ])
})

t.test('a form is chosen by a word, and a wrong one is told all words', async (t) => {
  const strict = { additionalProperties: false }
  const forms = [
    Type.Object({ do: Type.Literal('rename'), name: Type.String() }, strict),
    Type.Object({ do: Type.Enum(['close', 'hide']) }, strict),
  ]
  const told = {
    'value.name is required': { do: 'rename' },
    'value.name is unknown': { do: 'close', name: 'Lobby' },
  }
  for (const [reason, value] of Object.entries(told)) {
    for (const all of [forms, forms.toReversed()]) {
      t.strictSame(reasons(Type.Unsafe({ oneOf: all }), value), [reason])
    }
  }
  for (const value of [{ do: 'burn' }, { do: 'burn', name: 'Lobby' }])
    t.strictSame(reasons(Type.Unsafe({ oneOf: forms }), value), [
      'value.do must be one of rename, close, hide',
    ])
  t.strictSame(reasons(Type.Unsafe({ oneOf: forms.toReversed() }), { do: 'burn' }), [
    'value.do must be one of close, hide, rename',
  ])
  const icon = Type.Object({ emoji: Type.String() }, strict)
  const kind = Type.Object({ kind: Type.Enum(['a', 'b']) }, strict)
  t.strictSame(reasons(Type.Unsafe({ oneOf: [kind, icon] }), { kind: 'c' }), [
    'value.kind must be one of a, b',
  ])
})
