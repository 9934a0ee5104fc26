/** Which test files share processes, and which commands run them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

const patternsOf = (name: string): readonly string[] =>
  readFileSync(join(import.meta.dirname, name), 'utf8')
    .trimEnd()
    .split('\n')

const filesOf = (include: string | readonly string[], exclude: readonly string[] = []) =>
  globSync(include, { cwd: root, exclude }).sort()

export const patterns = { alone: patternsOf('alone.txt'), whole: patternsOf('whole.txt') }

/** Every test file is in exactly one of these. */
export const groups = {
  /** They kill, flood, browse, wait out limits or start from nothing, so each has a process of its own. */
  alone: filesOf(patterns.alone),
  /** One feature in the whole service, or something beside it: only `npm test` and `npm run verify` have the time. */
  whole: filesOf(patterns.whole, patterns.alone),
  /** What `npm run check` has. */
  check: filesOf('test/**/*.test.ts', [...patterns.alone, ...patterns.whole]),
}

export type Group = 'check' | 'whole'

/** A group has as many processes as files that run its shares. */
export const processesOf = (group: Group): number => filesOf(`test/together/${group}-*.ts`).length
