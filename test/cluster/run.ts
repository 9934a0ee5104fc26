/** The command `npm run test:cluster`: runs suites of faults, and prints what they came to. */
import { writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { linesOf, type Plan, type Report, runSuites, totalOf } from './rounds.ts'
import { SHORT } from './short.ts'
import type { Suite } from './suite.ts'
import { type SuiteName, suites } from './suites.ts'

/** As many as the design asks for. */
const ROUNDS = {
  crash: 100,
  freeze: 30,
  stall: 20,
  rolling: 20,
  handover: 5,
  postgres: 20,
  partition: 20,
  peers: 20,
  toxics: 20,
  netns: 10,
  exclusive: 10,
  xmpp: 20,
  redis: 20,
  upgrade: 3,
  linearizable: 28,
}
/** The load of the design, and one that a busy machine carries. */
const FULL = { accounts: 3_000, writes: 200, sends: 20, polls: 300, webhooks: 50, libraries: 1 }
const SMALL = { accounts: 12, writes: 24, sends: 24, polls: 3, webhooks: 3, libraries: 1 }

/**
 * `[--short | --full] [--suite NAME,…] [--rounds N] [--minutes M] [--seed S] [--json FILE]`, with the load as `[--nodes N]
 * [--accounts N] [--idle N] [--writes R] [--sends R] [--polls N] [--webhooks N] [--libraries N]`; rates are a second, for all accounts.
 */
const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    suite: { type: 'string', default: Object.keys(suites).join() },
    rounds: { type: 'string' },
    minutes: { type: 'string' },
    nodes: { type: 'string', default: '3' },
    accounts: { type: 'string' },
    idle: { type: 'string', default: '0' },
    writes: { type: 'string' },
    sends: { type: 'string' },
    polls: { type: 'string' },
    webhooks: { type: 'string' },
    libraries: { type: 'string' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
})
const print = (line: string) => process.stdout.write(`${line}\n`)
const sizes = values.full ? FULL : SMALL

/** A word in place of a number would be a run of no rounds, which passes. */
function numberOf(name: Exclude<keyof typeof values, 'short' | 'full'>, text: string, least = 0) {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (number >= least && number < Number.POSITIVE_INFINITY) return number
  throw new RangeError(`--${name} takes a number from ${least} on, not '${text}'`)
}

const size = (name: keyof typeof FULL) => numberOf(name, `${values[name] ?? sizes[name]}`)
const LEAST_MINUTES = 0.01

const plan: Omit<Plan, 'suites'> = {
  nodes: numberOf('nodes', values.nodes, 1),
  accounts: size('accounts'),
  idle: numberOf('idle', values.idle),
  bots: {
    polling: size('polls'),
    webhook: size('webhooks'),
    grammY: size('libraries'),
    Telegraf: size('libraries'),
    'python-telegram-bot': size('libraries'),
  },
  writesPerSecond: size('writes'),
  sendsPerSecond: size('sends'),
  seed: numberOf('seed', values.seed),
  ...(values.minutes !== undefined && {
    forMs: 60_000 * numberOf('minutes', values.minutes, LEAST_MINUTES),
  }),
  done: (suite, n) => n % 10 === 0 && print(`${suite}: ${n} rounds`),
}

const rounds = values.rounds === undefined ? undefined : numberOf('rounds', values.rounds, 1)

/** Each suite on a stage of its own, where it can be run. */
async function* longPlans(): AsyncGenerator<Plan> {
  for (const suite of values.suite.split(',') as SuiteName[]) {
    const missing = await (suites[suite] as Suite).missing?.()
    if (missing !== undefined) print(`${suites[suite].name}: skipped, ${missing}`)
    else yield { ...plan, suites: [[suite, rounds ?? ROUNDS[suite]]] }
  }
}

const plans = values.short ? [{ ...SHORT, seed: plan.seed }] : longPlans()
const ran: { report: Report; loadBefore: number[]; loadAfter: number[] }[] = []
for await (const each of plans) {
  const loadBefore = loadavg()
  const report = await runSuites(each)
  for (const line of linesOf(report)) print(line)
  ran.push({ report, loadBefore, loadAfter: loadavg() })
}
const reports = ran.map(({ report }) => report)
if (values.json) {
  const conditions = { at: new Date(), node: process.version, cores: availableParallelism() }
  await writeFile(values.json, `${JSON.stringify({ ...conditions, plan, ran }, null, 2)}\n`)
}
const total = totalOf(reports)
print(total)
process.exitCode = total.endsWith(' 0 violations, 0 failed calls') ? 0 : 1
