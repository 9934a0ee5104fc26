/** The tests that libraries of JavaScript and Java bring along for the reference's server, against the service. */
// `node test/libraries/suites/run.ts NAME FOLDER [--log FILE]`: the folder is a checkout of the library, because no
// package of a registry has these tests. `<name>.txt` lists the tests that cannot pass here, each with its reason.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { joinTestServer, leaveTestServer } from '../../support/postgres.ts'
import { startService } from '../../support/service.ts'
import { ensureTemplate } from '../../support/template.ts'
import { javaTelegramBotApi } from './java.ts'
import { effectTelegramApi, nodeTelegramBotApi, typescriptTelegramBotApi } from './javascript.ts'
import type { Outcome } from './outcomes.ts'
import { openScene } from './scene.ts'
import type { Replaced, Suite } from './suite.ts'

const suites: Readonly<Record<string, Suite>> = {
  'typescript-telegram-bot-api': typescriptTelegramBotApi,
  'node-telegram-bot-api': nodeTelegramBotApi,
  'effect-telegram-api': effectTelegramApi,
  'java-telegram-bot-api': javaTelegramBotApi,
}

/** Resolves with what was printed, whatever the command's end: its report tells of the tests. */
const run = ([file = '', ...args]: readonly string[], cwd: string, env: object = {}) =>
  new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const options = { cwd, maxBuffer: 256 << 20, env: { ...process.env, ...env } }
    execFile(file, args, options, (_, stdout, stderr) => resolve({ stdout, stderr }))
  })

async function filesIn(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = await readdir(path, { recursive: true })
  return names.filter((name) => /\.(ts|js|java)$/.test(name)).map((name) => join(path, name))
}

async function replaceIn(path: string, replaced: Replaced): Promise<void> {
  for (const file of await filesIn(path)) {
    let text = await readFile(file, 'utf8')
    for (const [from, to] of replaced) {
      text = typeof from === 'string' ? text.replaceAll(from, () => to) : text.replace(from, to)
    }
    await writeFile(file, text)
  }
}

/** Installs no more than what the tests need, whatever the authors write and check their code with. */
async function installIn(folder: string, packages: readonly string[]): Promise<void> {
  const file = join(folder, 'package.json')
  const { type, dependencies = {}, name, version } = JSON.parse(await readFile(file, 'utf8'))
  const pinned = packages.map((each) => each.replace(/(?<=.)@[^@]*$/, ''))
  const needed = Object.fromEntries(
    Object.entries(dependencies).filter(([each]) => !pinned.includes(each)),
  )
  await writeFile(file, JSON.stringify({ name, version, type, dependencies: needed }))
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
  const { stderr } = await run(['npm', 'install', '--no-save', ...quietly, ...packages], folder)
  if (stderr.includes('npm error')) throw new Error(stderr)
}

/** Whether a test cannot pass here: `test | reason` a line, and a name may begin with `*`. */
async function knownOf(name: string): Promise<(test: string) => boolean> {
  const text = await readFile(join(import.meta.dirname, `${name}.txt`), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const names = lines.map((line) => line.split(' | ')[0] ?? '')
  const endings = names.filter((each) => each.startsWith('*')).map((each) => each.slice(1))
  return (test) => {
    const line = test.replaceAll('\n', ' ')
    return names.includes(line) || endings.some((ending) => line.endsWith(ending))
  }
}

/** Suites try wrong keys of their own by the hundred. */
const env = {
  WRONG_KEYS_PER_MINUTE: '100000',
  WRONG_KEYS_PER_HOUR: '100000',
  // For ffmpeg: some look at what was made of their files.
  ...(process.env.PATH && { PATH: process.env.PATH }),
}

async function runSuite(suite: Suite, name: string, checkout: string, log: string | undefined) {
  const closing: (() => Promise<void> | void)[] = []
  const t = { teardown: (work: () => Promise<void> | void) => void closing.unshift(work) }
  try {
    const made = await mkdtemp(join(tmpdir(), 'chapar-suite-'))
    t.teardown(() => rm(made, { recursive: true, force: true }))
    await cp(checkout, made, { recursive: true, verbatimSymlinks: true })
    if (suite.packages) await installIn(made, suite.packages)
    const service = await startService(t, { env })
    const scene = await openScene(t, service, botNames[name] ?? 'suite_test_bot')
    const { env: told, replaced } = await suite.prepare(scene, made)
    for (const path of suite.changed) await replaceIn(join(made, path), replaced)
    const { stdout, stderr } = await run(suite.command, made, told)
    if (suite.printed) await writeFile(join(made, suite.printed), stdout)
    if (log) await writeFile(log, `${stdout}${stderr}`)
    return await suite.outcomes(made)
  } finally {
    for (const close of closing) await close()
  }
}

/** Part of the names of the sticker sets that the suite makes. */
const botNames: Readonly<Record<string, string>> = { 'java-telegram-bot-api': 'pengrad_test_bot' }

function report(outcomes: readonly Outcome[], isKnown: (test: string) => boolean): boolean {
  const having = (verdict: Outcome['verdict']) =>
    outcomes.filter((outcome) => outcome.verdict === verdict)
  const failed = having('failed')
  const surprising = failed.filter(({ name }) => !isKnown(name))
  for (const { name, reason } of surprising) print(`failed: ${name}: ${firstLines(reason)}`)
  const passed = having('passed')
  const outdated = passed.filter(({ name }) => isKnown(name))
  for (const { name } of outdated) print(`listed, but it passes: ${name}`)
  const known = failed.length - surprising.length
  print(
    `${outcomes.length} tests: ${passed.length} passed, ${known} cannot pass here, ` +
      `${surprising.length} failed, ${having('skipped').length} skipped by the suite`,
  )
  return surprising.length === 0 && outdated.length === 0 && passed.length > 0
}

const firstLines = (reason = '') =>
  stripVTControlCharacters(reason).split('\n').filter(Boolean).slice(0, 8).join(' ').slice(0, 600)
const print = (line: string) => process.stdout.write(`${line}\n`)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { log: { type: 'string' } },
})
const [name = '', checkout = ''] = positionals
const suite = suites[name]
if (!suite || !checkout) {
  throw new Error(`usage: run.ts ${Object.keys(suites).join('|')} FOLDER [--log FILE]`)
}
// Held until the end: services come and go meanwhile.
const database = await joinTestServer()
await ensureTemplate(database)
const outcomes = await runSuite(suite, name, checkout, values.log)
await database.client.end()
await leaveTestServer()
process.exitCode = report(outcomes, await knownOf(name)) ? 0 : 1
