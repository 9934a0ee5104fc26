#!/usr/bin/env node
/** The launcher. Plain JavaScript that parses on any Node.js, because npm may start it on an old one. */
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChild } from './child.mjs'
import { installWhatIsMissing } from './install.mjs'
import { keepRunning } from './keep-running.mjs'
import { buildPanelWhenStale } from './panel.mjs'
import { findRuntime, serviceArguments, serviceEnvironment } from './runtime.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [command, ...rest] = process.argv.slice(2)

const tap = ['node_modules/tap/dist/esm/run.mjs']

/** The quick test files share processes, each of the others has its own. Files that are named are all that runs. */
function everyTest() {
  const alone = readFileSync(join(root, 'test/together/alone.txt'), 'utf8').trimEnd().split('\n')
  const files = ['test/together/{check,whole}-*.ts', ...alone]
  return [...tap, ...files.map((pattern) => `--include=${pattern}`)]
}

const judging = [
  ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  ['node_modules/typescript/bin/tsc', '--noEmit'],
  ['node_modules/typescript/bin/tsc', '--noEmit', '--project', 'src/panel'],
]
const wholeTree = { development: true, panel: true, timed: true }

/**
 * A step is what Node.js is given to run, or a function that makes it when it is wanted; `beside` are steps that run at
 * the same time, one after another, at a low priority. `development` says that it needs the test tools, `panel` the built
 * panel, `kept` that it is started again when it ends unexpectedly, and `about` what the list of commands says of it.
 */
const commands = {
  start: { about: 'the service', steps: [['src/main.ts']], panel: true, kept: true },
  'build-panel': { about: 'builds the panel, as a start does', steps: [], panel: true },
  'drop-signing-keys': {
    about: 'voids every access token',
    steps: [['src/operator/drop-signing-keys.ts']],
  },
  unlock: {
    about: 'lets a phone sign in again after wrong codes',
    steps: [['src/operator/unlock.ts']],
  },
  nodes: {
    about: 'lists the processes that serve the database',
    steps: [['src/nodes/command.ts']],
  },
  drain: {
    about: 'lets a node give its accounts away',
    steps: [['src/nodes/order-command.ts', 'drain']],
  },
  undrain: {
    about: 'lets it take accounts again',
    steps: [['src/nodes/order-command.ts', 'undrain']],
  },
  move: { about: 'keeps an account on a node', steps: [['src/nodes/order-command.ts', 'move']] },
  migrate: {
    about: 'takes away what only earlier versions used',
    steps: [['src/nodes/migrate-command.ts']],
  },
  test: { steps: [everyTest], development: true, panel: true },
  'kill-test': { steps: [['test/kill/run.ts']], development: true },
  'cluster-test': { steps: [['test/cluster/run.ts']], development: true },
  'fault-test': { steps: [['test/faults/run.ts']], development: true },
  'library-test': { steps: [['test/libraries/run.ts']], development: true },
  'schemathesis-test': { steps: [['test/openapi/run.ts']], development: true },
  fuzz: { steps: [['test/fuzz/run.ts']], development: true },
  mutants: { steps: [['test/mutants/run.ts']], development: true },
  'adopt-reference': {
    steps: [['test/reference/adopt.ts'], ['test/reference/list-unclassified.ts']],
    development: true,
  },
  'probe-methods': { steps: [['test/probe/run.ts']], development: true },
  house: { steps: [['test/house/run.ts']], development: true },
  bench: { steps: [['bench/run.ts']], development: true },
  lint: { steps: judging.slice(0, 1), development: true },
  types: { steps: judging.slice(1), development: true },
  docs: { steps: [['test/docs/write.ts']], development: true },
  screenshots: { steps: [['test/panel/screenshots.ts']], development: true, panel: true },
  // What a change is held to while it is made. `verify` adds what kills, floods, browses, waits out limits and starts from
  // nothing, and most features in the whole service.
  check: {
    steps: [[...tap, '--jobs=4', 'test/together/check-*.ts']],
    beside: judging,
    ...wholeTree,
  },
  verify: { steps: [everyTest], beside: judging, ...wholeTree },
}

function environment(runtime, isService) {
  const path = [join(root, 'node_modules', '.bin'), dirname(runtime), process.env.PATH]
  // Starting is mostly reading some two thousand modules: stripped and compiled once, they load in half the time.
  const NODE_COMPILE_CACHE = join(root, 'node_modules', '.cache', 'compiled')
  const options = isService && serviceEnvironment(process.env)
  return { NODE_COMPILE_CACHE, ...process.env, ...options, PATH: path.join(delimiter) }
}

const say = (line) => process.stderr.write(`chapar: ${line}\n`)

/** Below the tests, so that it takes the time in which they wait. */
const LOW_PRIORITY = 10

/** Resolves to the exit code of the first step that fails; the steps after it do not run. */
async function runSteps(steps, runtime, { timed = false, kept = false, priority }) {
  for (const step of steps) {
    const [script, ...args] = typeof step === 'function' ? step() : step
    const startedAt = performance.now()
    const options = { cwd: root, env: environment(runtime, kept), priority }
    const given = kept ? serviceArguments() : []
    const child = [runtime, [...given, join(root, script), ...args, ...rest], options]
    const code = await (kept ? keepRunning(child, say) : runChild(...child))
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    const verdict = code === 0 ? 'passed' : `failed with exit code ${code}`
    const told = args.filter((arg) => !arg.startsWith('--include'))
    if (timed) say(`${[script, ...told].join(' ')} ${verdict} in ${seconds} s`)
    if (code !== 0) return code
  }
  return 0
}

async function run({ steps, beside = [], development = false, panel = false, ...how }) {
  await installWhatIsMissing(root, { development }, say)
  const runtime = findRuntime(root)
  if (panel) buildPanelWhenStale(root, runtime)
  const codes = await Promise.all([
    runSteps(steps, runtime, how),
    runSteps(beside, runtime, { ...how, priority: LOW_PRIORITY }),
  ])
  // Its errors stand among the lines of the tests, which may have passed.
  if (codes[1] !== 0) say('format, lint or types failed: see above')
  return codes.find((code) => code !== 0) ?? 0
}

function usage() {
  const told = Object.entries(commands).filter(([, { about }]) => about)
  const others = Object.keys(commands).filter((name) => !commands[name].about)
  return `usage: chapar COMMAND [arguments]
${told.map(([name, { about }]) => `  ${name.padEnd(18)} ${about}`).join('\n')}
COMMAND --help tells the arguments. For development: ${others.join(', ')}
`
}

const isHelp = (word) => ['help', '--help', '-h'].includes(word)

// These start something, and are set by the environment: an argument that is ignored would mislead.
const takesNothing = commands[command]?.panel && commands[command].about

if (isHelp(command) || (takesNothing && rest.some(isHelp))) {
  process.stdout.write(usage())
} else if (takesNothing && rest.length > 0) {
  say(`${command} takes no arguments: what is to be set are environment variables`)
  process.stderr.write(usage())
  process.exitCode = 2
} else if (Object.hasOwn(commands, command)) {
  try {
    process.exitCode = await run(commands[command])
  } catch (error) {
    say(error.message)
    process.exitCode = 1
  }
} else {
  // A service that is started like this must not look like one that has done its work.
  say(command === undefined ? 'a command is missing' : `there is no command ${command}`)
  process.stderr.write(usage())
  process.exitCode = 2
}
