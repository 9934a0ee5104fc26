/** Runs a share of the quick test files in one process: to load the service takes longer than most of them do. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { deal } from './deal.ts'
import { type Group, groups, processesOf } from './groups.ts'

const root = join(import.meta.dirname, '../..')
/** Milliseconds for one file, as `.taprc` has it for a process. */
const TIMEOUT = 300_000

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

/** @param share counted from 1. Every file of a group belongs to exactly one. */
export function runShare(group: Group, share: number): void {
  giveEachItsOwnTest()
  t.setTimeout(4 * TIMEOUT)
  for (const file of deal(groups[group], seconds, processesOf(group))[share - 1] ?? []) {
    t.test(file, { timeout: TIMEOUT }, async (own) => {
      const { href } = pathToFileURL(join(root, file))
      tests.set(href, own)
      await import(href)
    })
  }
}
