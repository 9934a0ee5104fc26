/** The parameters of a call: read as the reference reads them, whatever they are. */

import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { Arguments, chatFrom, chatOf, formEntries, numberIn } from '../../src/bot-api/arguments.ts'
import { messageIdsOf } from '../../src/bot-api/methods/forwarding.ts'
import { invoiceOf } from '../../src/bot-api/methods/payments.ts'
import { isDeeperThan } from '../../src/json/spans.ts'
import fc from '../support/fast-check.ts'

const given = (value: string) => new Arguments([['it', value]])
const anything = fc.oneof(
  fc.string(),
  fc.integer().map(String),
  fc.tuple(fc.integer(), fc.string()).map(([number, rest]) => `${number}${rest}`),
  fc.constantFrom(
    '',
    '-',
    'true',
    ' TRUE ',
    'Yes',
    '1',
    '0',
    'null',
    '1e400',
    '-0',
    '9'.repeat(30),
  ),
)

/** Digit by digit, where the real thing matches a pattern. */
function leadingInteger(value: string): number {
  const isNegative = value.startsWith('-')
  let digits = ''
  for (const char of isNegative ? value.slice(1) : value) {
    if (char < '0' || char > '9') break
    digits += char
  }
  return digits === '' ? 0 : Number(digits) * (isNegative ? -1 : 1)
}

t.test('integers are the leading digits, moved into their range', async (t) => {
  const range = fc.tuple(fc.integer(), fc.integer()).map(([a, b]) => ({
    min: Math.min(a, b),
    max: Math.max(a, b),
  }))
  fc.assert(
    fc.property(anything, range, (value, { min, max }) => {
      const wanted = Math.max(min, Math.min(max, leadingInteger(value)))
      t.ok(given(value).integer('it', { min, max }) === wanted)
    }),
  )
  t.equal(new Arguments([]).integer('it', { min: -5, max: 5 }), 0)
})

t.test('three words are true, and nothing else', async () => {
  fc.assert(
    fc.property(anything, (value) => {
      const wanted = new Set(['true', 'yes', '1']).has(value.trim().toLowerCase())
      return given(value).boolean('it') === wanted
    }),
  )
})

t.test('numbers never are NaN', async () => {
  fc.assert(fc.property(anything, (value) => !Number.isNaN(given(value).number('it'))))
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      (value) => given(`${value}`).number('it') === value,
    ),
  )
})

t.test('structured values come back whole, and nothing throws', async (t) => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      t.same(given(json).json('it'), JSON.parse(json))
    }),
  )
  fc.assert(
    fc.property(fc.string(), (value) => {
      given(value).json('it')
    }),
  )
})

t.test('brackets are counted where they nest, and only there', async (t) => {
  const nested = (depth: number, inner = '1') => '[{"a":'.repeat(depth) + inner + '}]'.repeat(depth)
  t.notOk(isDeeperThan(nested(50), 100))
  t.ok(isDeeperThan(nested(50, '[1]'), 100))
  t.notOk(isDeeperThan(`[${'[{}],'.repeat(500)}1]`, 100), 'side by side')
  t.notOk(isDeeperThan(`["${'[{'.repeat(500)}"]`, 100), 'in a string')
  t.notOk(isDeeperThan(`["\\"${'[{'.repeat(500)}"]`, 100), 'behind a quote of a string')
  t.ok(isDeeperThan(`["\\\\",${nested(50)}]`, 100), 'behind a string that ends in a backslash')
  t.equal(typeof given(nested(50)).json('it'), 'object')
  t.equal(given(nested(50, '[1]')).json('it'), undefined)
})

t.test('JSON whose texts no database can store is refused, wherever they stand', async (t) => {
  const refusal = failed('bad_request', 'strings must be encoded in UTF-8')
  const broken = ['"\\u0000"', '"\\ud800"', '"\\uDFFF"', '[{"a":["\\u0000"]}]', '{"\\u0000":1}']
  for (const text of broken) t.throws(() => given(text).json('it'), refusal, text)
  const whole = ['"\\ud83d\\ude00"', '"\\\\u0000"', '{"a":null,"b":["\\ud83d\\ude00"]}']
  for (const text of whole) t.same(given(text).json('it'), JSON.parse(text))
})

t.test('the members of an object are read like parameters, those of nothing else', async (t) => {
  const members = given('{"a":"text","b":7,"c":null,"d":[1]}').members('it', 'the')
  t.same([...members.names()], ['a', 'b', 'd'])
  t.equal(members.text('a'), 'text')
  t.equal(members.number('b'), 7)
  t.same(members.json('d'), [1])
  const broken = failed('bad_request', "can't parse the JSON object")
  for (const text of ['', '{', 'nul'])
    t.throws(() => given(text).members('it', 'the'), broken, text)
  const refusal = failed('bad_request', 'object expected as the')
  for (const text of ['null', '[]', '"a"', '7']) {
    t.throws(() => given(text).members('it', 'the'), refusal, text)
  }
})

t.test('a form gives its names and values, byte by byte', async (t) => {
  const entries = (form: string) => [...formEntries(form)]
  t.same(entries('&a=1&&b=x+y%20z&c&d==%3D&=e&'), [
    ['a', '1'],
    ['b', 'x y z'],
    ['c', ''],
    ['d', '=='],
    ['', 'e'],
  ])
  t.same(entries('%D8%A7=%f0%9F%98%80&a%5B%5d=100%&b=%zz'), [
    ['ا', '😀'],
    ['a[]', '100%'],
    ['b', '%zz'],
  ])
  t.throws(() => entries('a=%ff'), failed('bad_request', 'strings must be encoded in UTF-8'))
})

t.test('each chat has one rate, however it is written', async (t) => {
  t.equal(chatOf('@Ada'), chatOf('@aDA'))
  for (const text of ['7', '7x', '007', '7.5']) t.equal(chatOf(text), '7')
  t.equal(chatOf('-1001234567890'), '-1001234567890')
  for (const text of ['', 'x7', undefined]) t.equal(chatOf(text), '0')
})

t.test('the first of several values counts', async () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.array(fc.string()), (first, others) => {
      const values = [first, ...others].map((value) => ['it', value] as const)
      return new Arguments(values).text('it') === first
    }),
  )
})

t.test('a chat is a name or a number that is not 0', async (t) => {
  fc.assert(
    fc.property(anything, (value) => {
      const number = leadingInteger(value)
      const isName = value.length > 1 && value.startsWith('@')
      if (isName) t.equal(chatFrom(value), value)
      else if (number !== 0 && Number.isSafeInteger(number)) t.equal(chatFrom(value), number)
      else t.throws(() => chatFrom(value), { message: 'chat not found' })
    }),
  )
})

t.test('message ids are numbers, or text that writes one', async (t) => {
  const ids = fc.array(fc.integer({ min: 1, max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 100 })
  fc.assert(
    fc.property(ids, fc.boolean(), (numbers, areTexts) => {
      const message_ids = areTexts ? numbers.map(String) : numbers
      t.same(messageIdsOf(Arguments.from({ message_ids })), numbers)
    }),
  )
  const told = (message_ids: unknown) => () => messageIdsOf(Arguments.from({ message_ids }))
  const refusal = (message: string) => ({ message })
  const faults = {
    'message identifier must be a Number': [true, null, [5], {}],
    "can't parse message identifier as a Number": [
      ...['', ' 5', '5 ', '0x10', '1e3', '05', '-0', 'x', `${2 ** 31}`],
      ...[1.5, 2 ** 31, 2 ** 60],
    ],
    'invalid message identifier specified': [0, -1, '0', '-5', -(2 ** 31)],
  }
  for (const [problem, odd] of Object.entries(faults)) {
    for (const one of odd) t.throws(told([1, one]), refusal(problem), JSON.stringify(one))
  }
  t.throws(told(undefined), refusal('message identifiers are not specified'))
  t.throws(told([]), refusal('message identifiers are not specified'))
  t.throws(told({ 0: 1 }), refusal('expected an Array of message identifiers'))
  const many = Array.from({ length: 101 }, (_, place) => place)
  t.throws(told(many), refusal('too many message identifiers specified'))
})

t.test('a list is told from JSON that is none, and from what is no JSON', async (t) => {
  const list = (value: string) => () => given(value).list('it', 'things', 'Thing')
  t.same(list(' [1, "a"] ')(), [1, 'a'])
  t.same(list('[]')(), [])
  for (const other of ['null', ' null ', '{}', '1', '"[]"', 'true']) {
    t.throws(list(other), { message: 'expected an Array of Thing' }, other)
  }
  for (const broken of ['', '[', 'nul', '['.repeat(1_000)]) {
    t.throws(list(broken), { message: "can't parse things JSON object" }, broken)
  }
})

t.test('an absent parameter is not parsed: the error of the parser would be dear', (t) => {
  const parsed = t.capture(JSON, 'parse', JSON.parse)
  for (const entries of [[], [['it', '']]] as const) {
    t.equal(new Arguments(entries).json('it'), undefined)
  }
  t.same(parsed(), [])
  t.end()
})

t.test('a list of one number is no number', (t) => {
  for (const other of [[5], [['5']], [], {}, null, true, undefined]) t.same(numberIn(other), NaN)
  t.same([numberIn(5), numberIn('5')], [5, 5])
  const priced = {
    title: 'A',
    description: 'B',
    payload: 'c',
    currency: 'EUR',
    provider_token: 'd',
  }
  const prices = [{ label: 'All', amount: 100 }]
  const tips = (suggested_tip_amounts: unknown[]) => () =>
    invoiceOf(Arguments.from({ ...priced, prices, max_tip_amount: 9, suggested_tip_amounts }))
  t.match(tips([5, '7'])(), { tips: [5, 7] })
  t.throws(tips([5, [7]]), { message: 'TIP_AMOUNTS_INVALID' })
  t.end()
})

t.test('the first parameters, up to a number of characters', (t) => {
  const args = new Arguments([
    ['chat_id', '1'],
    ['text', 'سلام \ud800 x'.repeat(10)],
    ['more', 'y'],
  ])
  t.equal(args.upTo(1_000), args, 'all of them')
  const head = args.upTo(20)
  t.same([...head.names()], ['chat_id', 'text'])
  t.equal(head.text('chat_id'), '1')
  t.equal(head.text('text'), 'سلام \ud800 x', 'no character is replaced')
  t.same([...args.upTo(10).names()], ['chat_id', 'te'])
  t.end()
})
