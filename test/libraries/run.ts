/** `npm run test:libraries [-- --quick] [--only NAME,…] [--verbose] [--write]`, or `-- --suites [--only NAME,…] [--write] [NAME=CHECKOUT …]`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { joinTestServer, leaveTestServer } from '../support/postgres.ts'
import { ensureTemplate } from '../support/template.ts'
import { libraries } from './catalogue.ts'
import { pageFile, type Result, readResults, resultsFile, withLibraries } from './page.ts'
import {
  doublesOf,
  isQuick,
  type Report,
  runLibraries,
  score,
  summary,
  versionOf,
} from './round.ts'
import { readSuiteResults, suiteResultsFile, withSuites } from './suites/page.ts'
import { runSuites } from './suites/run.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
    suites: { type: 'boolean', default: false },
  },
})
const names = values.only?.split(',')
const counts = { passed: 0, failed: 0, skipped: 0 }
let begun = performance.now()

function tell(report: Pick<Report, 'counts'>, [first = '', ...more]: readonly string[]) {
  const seconds = Math.round((performance.now() - begun) / 1000)
  process.stdout.write([`${first} (${seconds} s)`, ...more, ''].join('\n'))
  begun = performance.now()
  counts.passed += report.counts.passed
  counts.failed += report.counts.failed
  counts.skipped += report.counts.skipped
}

const writeJson = (file: string, content: object) =>
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)

async function judgeByLibraries() {
  const chosen = libraries.filter((library) =>
    names ? names.includes(library.name) : !values.quick || isQuick(library),
  )
  const results: Record<string, Result> = { ...readResults() }
  for await (const report of runLibraries(chosen, values.quick ? 2 : 1)) {
    tell(report, summary(report, values.verbose))
    const version = versionOf(report.trials)
    const scores = Object.entries(report.trials).map(([mode, trial]) => [mode, score(trial)])
    const doubles = doublesOf(report.trials)
    if (version) {
      const counted = doubles && { doubles }
      results[report.library.name] = { version, ...Object.fromEntries(scores), ...counted }
    }
    // After each, because all of them take half an hour and the last ones may be stopped.
    if (values.write) {
      writeJson(resultsFile, results)
      writeFileSync(pageFile, withLibraries(readFileSync(pageFile, 'utf8'), results))
    }
  }
}

async function judgeBySuites() {
  const checkouts = positionals.map((text) => {
    const [name = '', folder = ''] = text.split(/=(.*)/)
    return [name, folder] as const
  })
  const results = { ...readSuiteResults() }
  for await (const report of runSuites(names, new Map(checkouts))) {
    tell(report, report.lines)
    if (report.result) results[report.name] = report.result
    if (values.write) {
      writeJson(suiteResultsFile, results)
      writeFileSync(pageFile, withSuites(readFileSync(pageFile, 'utf8'), results))
    }
  }
}

// Held until the end: services come and go meanwhile.
const database = await joinTestServer()
await ensureTemplate(database)
await (values.suites ? judgeBySuites() : judgeByLibraries())
await database.client.end()
await leaveTestServer()
process.stdout.write(
  `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
)
process.exitCode = counts.failed === 0 ? 0 : 1
