/** No test file waits between its tests: tap ends a file that has no test left, and the later ones never run. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const folder = join(import.meta.dirname, '..')

/** The first line outside of functions that waits after a test was declared. Waiting for a test itself is none. */
function lateWait(source: string): string | undefined {
  const lines = source.split('\n')
  const first = lines.findIndex((line) => /^(await )?t\.test\(/.test(line))
  return first < 0 ? undefined : lines.slice(first).find((line) => waits.test(line))
}

const waits = /^(?!await t\.test\()(?:await|(?:for|if|const|let|export)\b(?!.*=>).*\bawait)\b/

t.test('what a file needs is awaited before its first test', async (t) => {
  t.ok(lateWait("t.test('a', run)\nconst b = await open()\nt.test('b', run)"))
  t.ok(lateWait("t.test('a', run)\nfor (const x of all) await open(x)"))
  t.notOk(lateWait("const b = await open()\nt.test('a', async () => {\n  await b\n})"))
  t.notOk(lateWait("await t.test('a', run)\nconst go = async () => await open()"))
  const files = globSync('**/*.test.ts', { cwd: folder })
  t.ok(files.length > 300)
  const late = files.filter((file) => lateWait(readFileSync(join(folder, file), 'utf8')))
  t.strictSame(late, [])
})
