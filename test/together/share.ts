/** Runs a share of the quick test files in one process: to load the service takes longer than most of them do. */
import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { deal } from './deal.ts'

const root = join(import.meta.dirname, '../..')
/** Most tests wait for something: two cores carry as many at once. */
const SHARES = globSync('test/together/share-*.ts', { cwd: root }).length
/** Milliseconds for one file, as `.taprc` has it for a process. */
const TIMEOUT = 300_000

/** They kill, flood, browse, wait out limits or start from nothing; only `npm run verify` and `npm test` run them. */
const slow = readFileSync(join(import.meta.dirname, 'slow.txt'), 'utf8')
  .trimEnd()
  .split('\n')

const tests = new Map<string, Test>()

/** The test of one file, which that file imports as `tap`. */
export const testOf = (file: string): Test | undefined => tests.get(file)

/** Without this all files would share one root test, and the teardowns of each would wait for the last. */
function giveEachItsOwnTest(): void {
  const scheme = 'tap-of:'
  registerHooks({
    resolve(specifier, context, next) {
      const file = context.parentURL ?? ''
      if (specifier !== 'tap' || !tests.has(file)) return next(specifier, context)
      return { url: `${scheme}${file}`, format: 'module', shortCircuit: true }
    },
    load(url, context, next) {
      if (!url.startsWith(scheme)) return next(url, context)
      const [here, file] = [import.meta.url, url.slice(scheme.length)].map((each) =>
        JSON.stringify(each),
      )
      const source = `import { testOf } from ${here}; export default testOf(${file})`
      return { source, format: 'module', shortCircuit: true }
    },
  })
}

/** Measured seconds of the longer files; `time.ts` writes it. A file that is not in it is dealt all the same. */
const seconds: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'seconds.json'), 'utf8'),
)

/** @param share counted from 1. Every quick file belongs to exactly one. */
export function runShare(share: number): void {
  giveEachItsOwnTest()
  t.setTimeout(4 * TIMEOUT)
  const quick = globSync('test/**/*.test.ts', { cwd: root, exclude: slow }).sort()
  for (const file of deal(quick, seconds, SHARES)[share - 1] ?? []) {
    t.test(file, { timeout: TIMEOUT }, async (own) => {
      const { href } = pathToFileURL(join(root, file))
      tests.set(href, own)
      await import(href)
    })
  }
}
