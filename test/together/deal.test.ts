/** The shares of the quick test files: each file once, and about the same time in each. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { deal } from './deal.ts'
import { groups, patterns } from './groups.ts'

const root = join(import.meta.dirname, '../..')

t.test('each file is in exactly one share', async (t) => {
  const files = Array.from({ length: 50 }, (_, n) => `test/${n}.test.ts`)
  const shares = deal(files, { 'test/7.test.ts': 30 }, 6)
  t.equal(shares.length, 6)
  t.same(shares.flat().sort(), [...files].sort())
})

t.test('a long file is balanced by several short ones', async (t) => {
  const seconds = { a: 6, b: 3, c: 3, d: 2, e: 2, f: 2 }
  const shares = deal(['f', 'e', 'd', 'c', 'b', 'a'], seconds, 3)
  t.same(shares, [['a'], ['b', 'd', 'f'], ['c', 'e']])
})

t.test('an unmeasured file counts as a usual one', async (t) => {
  t.same(deal(['new', 'long', 'short'], { long: 5, short: 0.5 }, 2), [['long'], ['new', 'short']])
})

t.test('each test file runs in a share or alone, and only once', async (t) => {
  const all = globSync('test/**/*.test.ts', { cwd: root })
  t.same(Object.values(groups).flat().sort(), all.sort())
})

t.test('each pattern names a file', async (t) => {
  for (const pattern of Object.values(patterns).flat()) {
    t.ok(globSync(pattern, { cwd: root }).length > 0, pattern)
  }
})
