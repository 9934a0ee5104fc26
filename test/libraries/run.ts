/** `npm run test:libraries [-- --quick] [--only NAME,…] [--verbose] [--write]`, or `-- --suites [--only NAME,…] [--verbose]`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { joinTestServer, leaveTestServer } from '../support/postgres.ts'
import { ensureTemplate } from '../support/template.ts'
import { libraries } from './catalogue.ts'
import { pageFile, type Result, readResults, resultsFile, withLibraries } from './page.ts'
import { doublesOf, isQuick, runLibraries, score, summary, versionOf } from './round.ts'
import { runGoSuites } from './suites/go.ts'
import { runSuites } from './suites.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
    suites: { type: 'boolean', default: false },
  },
})
const names = values.only?.split(',')
const chosen = libraries.filter((library) =>
  values.suites ? false : names ? names.includes(library.name) : !values.quick || isQuick(library),
)
const print = (line: string) => process.stdout.write(`${line}\n`)
// Held until the end: services come and go meanwhile.
const database = await joinTestServer()
await ensureTemplate(database)
const results: Record<string, Result> = { ...readResults() }
const write = () => {
  writeFileSync(resultsFile, `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(pageFile, withLibraries(readFileSync(pageFile, 'utf8'), results))
}
const counts = { passed: 0, failed: 0, skipped: 0 }
let begun = performance.now()
if (values.suites) counts.failed = await runSuites(names, values.verbose, print)
for await (const report of runLibraries(values.suites ? [] : chosen)) {
  const [first = '', ...more] = summary(report, values.verbose)
  print(`${first} (${Math.round((performance.now() - begun) / 1000)} s)`)
  for (const line of more) print(line)
  begun = performance.now()
  const version = versionOf(report.trials)
  const scores = Object.entries(report.trials).map(([mode, trial]) => [mode, score(trial)])
  const doubles = doublesOf(report.trials)
  if (version) {
    const counted = doubles && { doubles }
    results[report.library.name] = { version, ...Object.fromEntries(scores), ...counted }
  }
  counts.passed += report.counts.passed
  counts.failed += report.counts.failed
  counts.skipped += report.counts.skipped
  // After each, because all of them take half an hour and the last ones may be stopped.
  if (values.write) write()
}
if (values.suites) {
  for await (const report of runGoSuites(names)) {
    for (const line of report.lines) print(line)
    counts.passed += report.counts.passed
    counts.failed += report.counts.failed
    counts.skipped += report.counts.skipped
  }
}
await database.client.end()
await leaveTestServer()
if (!values.suites)
  print(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed === 0 ? 0 : 1
