/** Writes the table of suites in docs/bot-libraries.md: how each came out when it last ran to its end. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suites } from './catalogue.ts'
import type { Suite } from './suite.ts'

/** Nothing failed but what cannot pass here: another run is not kept. */
export interface SuiteResult {
  readonly source: string
  readonly passed: number
  readonly leftOut: number
  readonly skipped: number
}

export type SuiteResults = Readonly<Record<string, SuiteResult>>

export const suiteResultsFile = join(import.meta.dirname, 'results.json')

export const readSuiteResults = (): SuiteResults =>
  JSON.parse(readFileSync(suiteResultsFile, 'utf8'))

const begin = '<!-- suites: written by `npm run test:libraries -- --suites --write` -->'
const end = '<!-- end of suites -->'

const head = `| Suite | Source | Tests | Passed | Cannot pass here | Skipped by their authors |
|---|---|---|---|---|---|`

/** The page with its table made anew. */
export function withSuites(page: string, results: SuiteResults): string {
  const [before, rest = ''] = page.split(begin)
  const [, after] = rest.split(end)
  if (after === undefined) throw new Error('docs/bot-libraries.md has lost the marks of its suites')
  const rows = suites.flatMap((suite) => {
    const result = results[suite.name]
    return result ? [row(suite, result)] : []
  })
  return `${before}${begin}\n\n${[head, ...rows].join('\n')}\n\n${end}${after}`
}

function row({ title }: Suite, { source, passed, leftOut, skipped }: SuiteResult): string {
  const cells = [title, source, passed + leftOut + skipped, passed, leftOut, skipped]
  return `| ${cells.join(' | ')} |`
}
