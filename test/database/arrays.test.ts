/** Arrays as parameters: what is written is read back, and what PostgreSQL refuses is refused as before. */
import t from 'tap'
import { arrayLiteral, Latest, textArray } from '../../src/database/write-behind.ts'
import { testDatabase } from '../support/database.ts'
import fc from '../support/fast-check.ts'

const { database } = await testDatabase(t)

/** As columns of one statement, as the log and the journals write them. */
const statement = {
  name: 'arrays',
  text: `select * from unnest($1::bigint[], $2::text[], $3::float8[], $4::boolean[])
           as r (number, text, real, flag)`,
}

const special = [
  '"',
  '\\',
  '{',
  '}',
  ',',
  'null',
  'NULL',
  ' ',
  '',
  '\n',
  '\t',
  '\u0001',
  '\u001f',
  '\u007f',
]
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', '')),
  fc.array(fc.constantFrom(...special)).map((parts) => parts.join('')),
  fc.json(),
)
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null, freq: 5 })
const row = fc.record({
  number: orNull(fc.maxSafeInteger()),
  text: orNull(text),
  real: orNull(fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)),
  flag: orNull(fc.boolean()),
})

t.test('rows come back as they were written, whatever is in their text', async (t) => {
  const holds = fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
    const read = await database.query(statement, [
      arrayLiteral(rows.map(({ number }) => number)),
      textArray(rows.map(({ text }) => text)),
      arrayLiteral(rows.map(({ real }) => real)),
      arrayLiteral(rows.map(({ flag }) => flag)),
    ])
    t.strictSame(
      read.map((one) => ({ ...one })),
      rows.map((one) => ({ ...one })),
    )
  })
  await fc.assert(holds, { numRuns: 200 })
})

t.test('undefined is null, and a text that is empty or says null is not', async (t) => {
  const texts = async (values: readonly (string | null | undefined)[]) =>
    (
      await database.query<{ text: string | null }>('select unnest($1::text[]) as text', [
        textArray(values),
      ])
    ).map(({ text }) => text)
  t.strictSame(await texts([undefined, null, '', 'null', 'NULL']), [null, null, '', 'null', 'NULL'])
  t.strictSame(await texts([]), [])
  t.strictSame(await texts(['\ud800']), ['\ufffd'], 'half a character as the driver writes it')
})

t.test('NUL and numbers beyond a bigint are errors of the values', async (t) => {
  await t.rejects(database.query('select unnest($1::text[])', [textArray(['a\0b'])]), {
    code: /^22021$/,
  })
  await t.rejects(database.query('select $1::bigint[]', [arrayLiteral([Number.NaN])]), {
    code: '22P02',
  })
  t.same(await database.query('select 1 as n'), [{ n: 1 }], 'and the connection is still good')
})

t.test('newest values are written 500 at a time, and others are served in between', async (t) => {
  const sizes: number[] = []
  let served = 0
  const buffer = new Latest<number, number>({
    everyMs: 1,
    async write(entries) {
      const before = served
      setImmediate(() => served++)
      await new Promise(setImmediate)
      t.equal(served, before + 1)
      sizes.push(entries.length)
    },
    rows: 'values',
    logger: { warn: () => t.fail(), error: () => t.fail() },
  })
  for (let key = 0; key < 1_200; key++) buffer.set(key, key)
  await buffer.flush()
  t.same(sizes, [500, 500, 200])
  t.equal(buffer.get(0), undefined)
})

t.test('a step that fails keeps its values and those behind it', async (t) => {
  const written: (readonly [number, number])[] = []
  const failures: object[] = []
  let fails = true
  const buffer = new Latest<number, number>({
    everyMs: 1,
    async write(entries) {
      if (fails && entries[0]?.[0] === 500) throw new Error('away')
      written.push(...entries)
    },
    rows: 'values',
    logger: { warn: (facts) => failures.push(facts), error: () => t.fail() },
  })
  for (let key = 0; key < 1_200; key++) buffer.set(key, key)
  await buffer.flush()
  t.match(failures, [{ kept: 700 }])
  t.equal(buffer.get(499), undefined)
  t.equal(buffer.get(500), 500)
  // A newer value that comes meanwhile is written, not the old one.
  buffer.set(500, -1)
  fails = false
  await buffer.flush()
  t.equal(written.length, 1_200)
  t.same(
    written.find(([key]) => key === 500),
    [500, -1],
  )
})
