/** No page bases a change of the address on the address as it was drawn: see useChangeOfAddress(). */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const panel = join(import.meta.dirname, '../../src/panel')

/** The router hands the address as it was drawn to a setter that is given a function. */
function isStale(source: string): boolean {
  const setters = [...source.matchAll(/\[[^\]]*,\s*(\w+)\] = useSearchParams\(\)/g)]
  return setters.some(([, name]) =>
    new RegExp(`\\b${name}\\(\\s*(?:function\\b|\\(?\\w*\\)? =>)`).test(source),
  )
}

t.test('changes of the address start from the address', async (t) => {
  t.ok(isStale('const [query, setQuery] = useSearchParams()\nsetQuery(\n  (before) => before)'))
  t.ok(isStale('const [, set] = useSearchParams()\nset(before => before)'))
  t.notOk(isStale('const [query, setQuery] = useSearchParams()\nsetQuery({ as: id })'))
  const files = globSync('**/*.{ts,tsx}', { cwd: panel })
  t.ok(files.length > 50)
  const stale = files.filter((file) => isStale(readFileSync(join(panel, file), 'utf8')))
  t.strictSame(stale, [])
})
