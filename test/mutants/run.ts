/** `npm run mutants -- --seed S --draws N [--in folder,folder]`, or `--named cluster`: mistakes, and which the tests notice. */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { applied, clusterMutants, type NamedMutant } from './cluster.ts'
import { Covering } from './covering.ts'
import { draw, type Mutant } from './draw.ts'
import { isEquivalent } from './equivalents.ts'

const root = join(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    draws: { type: 'string', default: '40' },
    in: { type: 'string', default: 'src/updates,src/webhooks,src/identities' },
    tests: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '90' },
    named: { type: 'string' },
  },
})
const folders = values.in.split(',')
const [seed, draws, mostTests, mostSeconds] = [
  values.seed,
  values.draws,
  values.tests,
  values.seconds,
].map(Number) as [number, number, number, number]
if (![seed, draws, mostTests, mostSeconds].every(Number.isSafeInteger)) {
  throw new Error('--seed, --draws, --tests and --seconds must be whole numbers')
}

/** What takes long, or says nothing of a single file. */
const leftOut = /^test\/(bin|faults|fuzz|kill|panel|docs|readme)|-servers|process|costly|restarts/

/** A copy of the project: a mistake of another run, or of this one when it is stopped, is in nobody's way. */
const copy = mkdtempSync(join(tmpdir(), 'chapar-mutants-'))
process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
for (const part of ['src', 'actors', 'machines', 'test', 'bin', 'docs']) {
  cpSync(join(root, part), join(copy, part), { recursive: true })
}
for (const file of ['package.json', 'tsconfig.json', 'README.md', '.taprc']) {
  copyFileSync(join(root, file), join(copy, file))
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))

interface Ended {
  readonly code: number | null
  readonly tookMs: number
}

/** Test files run in processes of their own: all of them end together. */
const end = ({ pid }: ChildProcess) => pid !== undefined && process.kill(-pid, 'SIGKILL')
let running: ChildProcess | undefined
process.once('exit', () => running && end(running))

/** Ends with code null where it took too long. */
function run(args: readonly string[], limitMs: number): Promise<Ended> {
  const startedAt = performance.now()
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore', detached: true })
    running = child
    const timer = setTimeout(() => end(child), limitMs)
    child.once('exit', (code) => {
      clearTimeout(timer)
      running = undefined
      resolve({ code, tookMs: performance.now() - startedAt })
    })
  })
}

// Only what the service is made of, and of that only what has changed: the tests' own types say nothing of a mistake.
const typesOf = { extends: './tsconfig.json', include: ['machines', 'actors', 'src'] }
writeFileSync(join(copy, 'tsconfig.mutants.json'), JSON.stringify(typesOf))
const judgingTypes = ['--noEmit', '--incremental', '--tsBuildInfoFile', 'mutants.tsbuildinfo']
const isTyped = async () => {
  const args = ['node_modules/typescript/bin/tsc', ...judgingTypes, '-p', 'tsconfig.mutants.json']
  return (await run(args, 300_000)).code === 0
}

const passes = async (test: string, limitMs: number) =>
  (await run(['node_modules/tap/dist/esm/run.mjs', '--jobs=1', test], limitMs)).code === 0

const covering = new Covering(root, (test) => leftOut.test(test))

type Verdict = 'noticed' | 'survived' | 'refused by types'

/** Tests one after the other until one fails, twice: one that fails at times has noticed nothing. */
async function judge(mutant: Mutant): Promise<{ verdict: Verdict; by: string }> {
  const path = join(copy, mutant.file)
  writeFileSync(path, mutant.source)
  try {
    if (!(await isTyped())) return { verdict: 'refused by types', by: 'tsc' }
    const end = performance.now() + mostSeconds * 1_000
    const tried: string[] = []
    for (const test of covering.testsFor(mutant.file).slice(0, mostTests)) {
      if (performance.now() > end) break
      tried.push(test)
      if (await passes(test, 60_000)) continue
      if (!(await passes(test, 60_000))) return { verdict: 'noticed', by: test }
    }
    return { verdict: 'survived', by: tried.join(' ') }
  } finally {
    copyFileSync(join(root, mutant.file), path)
  }
}

/** Red at the first try and again; and green without the mistake, or the test would say nothing. */
async function judgeNamed(mutant: NamedMutant): Promise<boolean> {
  const path = join(copy, mutant.file)
  const limitMs = 120_000
  if (!(await passes(mutant.test, limitMs))) throw new Error(`${mutant.test} fails by itself`)
  writeFileSync(path, applied(mutant, readFileSync(path, 'utf8')))
  try {
    return !(await passes(mutant.test, limitMs)) && !(await passes(mutant.test, limitMs))
  } finally {
    copyFileSync(join(root, mutant.file), path)
  }
}

const say = (line: string) => process.stdout.write(`${line}\n`)
const lineOf = ({ file, line }: Mutant) =>
  readFileSync(join(copy, file), 'utf8').split('\n')[line - 1] ?? ''
const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 100)

if (values.named === 'cluster') {
  let survived = 0
  for (const mutant of clusterMutants) {
    const isNoticed = await judgeNamed(mutant)
    if (!isNoticed) survived++
    say(`${isNoticed ? 'noticed' : 'SURVIVED'}: ${mutant.name} (${mutant.test})`)
  }
  say(`${clusterMutants.length - survived} of ${clusterMutants.length} named mutants noticed`)
  process.exit(survived === 0 ? 0 : 1)
}
if (values.named !== undefined) throw new Error('--named knows only: cluster')

say(`seed ${seed}, ${draws} mutants in ${folders.join(', ')}`)
const scores = new Map(folders.map((folder) => [folder, { noticed: 0, survived: 0, refused: 0 }]))
if (!(await isTyped())) throw new Error('the types are not in order without any mistake')
let judged = 0
let equivalent = 0
for (const mutant of draw(root, folders, seed)) {
  if (judged >= draws) break
  if (isEquivalent(mutant.file, mutant.operator, lineOf(mutant))) {
    equivalent++
    continue
  }
  const { verdict, by } = await judge(mutant)
  const score = scores.get(folders.find((folder) => mutant.file.startsWith(folder)) ?? '')
  if (score) score[verdict === 'refused by types' ? 'refused' : verdict]++
  if (verdict === 'refused by types') continue
  judged++
  const { file, line, operator, before, text } = mutant
  say(
    `${judged} ${verdict} ${file}:${line} ${operator}: ${oneLine(before)} -> ${oneLine(text)} (${by})`,
  )
}
for (const [folder, { noticed, survived, refused }] of scores) {
  const percent = Math.round((100 * noticed) / Math.max(1, noticed + survived))
  say(
    `${folder}: ${noticed} of ${noticed + survived} noticed (${percent} %), ${refused} refused by types`,
  )
}
say(`${equivalent} drawn that make no difference (test/mutants/equivalents.ts)`)
