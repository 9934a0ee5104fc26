/** `npm run test:cluster [-- --short] [--suite NAME,…] [--rounds N] [--nodes N] [--accounts N] [--idle N] [--per-second R] [--seed S]`. */
import { parseArgs } from 'node:util'
import { linesOf, runSuite, type SuiteReport, totalOf } from './rounds.ts'
import { type SuiteName, suites } from './suites.ts'

/** As many as the design asks for, and as many as fit into four minutes. */
const ROUNDS = { crash: 100, freeze: 30, rolling: 20, postgres: 20, partition: 40, redis: 20 }
const SHORT = { crash: 2, freeze: 1, rolling: 1, postgres: 1, partition: 1, redis: 0 }

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    suite: { type: 'string', default: Object.keys(suites).join() },
    rounds: { type: 'string' },
    nodes: { type: 'string', default: '3' },
    accounts: { type: 'string', default: '12' },
    idle: { type: 'string', default: '0' },
    'per-second': { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
  },
})
const print = (line: string) => process.stdout.write(`${line}\n`)

const reports: SuiteReport[] = []
for (const suite of values.suite.split(',') as SuiteName[]) {
  const rounds = Number(values.rounds ?? (values.short ? SHORT : ROUNDS)[suite])
  if (rounds === 0) continue
  const report = await runSuite({
    suite,
    rounds,
    nodes: Number(values.nodes),
    accounts: Number(values.accounts),
    idle: Number(values.idle),
    perSecond: Number(values['per-second']),
    seed: Number(values.seed),
    done: (n) => n % 10 === 0 && print(`${suite}: ${n} of ${rounds}`),
  })
  for (const line of linesOf(report)) print(line)
  reports.push(report)
}
print(totalOf(reports))
const isWell = reports.every(({ violations, failed }) => violations.length + failed.length === 0)
process.exitCode = isWell ? 0 : 1
