/** Has the tests that authors of libraries wrote for the reference's server judge the sandbox. */
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { startService } from '../../support/service.ts'
import { withTeardown } from '../../support/teardown.ts'
import { Missing } from '../toolchains.ts'
import { suites } from './catalogue.ts'
import { leftOutOf } from './left-out.ts'
import type { SuiteResult } from './page.ts'
import { openScene } from './scene.ts'
import { type Outcome, type Replaced, run, type Suite } from './suite.ts'

export interface SuiteReport {
  readonly name: string
  /** Of a suite that ran to its end with no failure but those that are known. */
  readonly result?: SuiteResult
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number }
  readonly lines: readonly string[]
}

/** Each as it is published, or from the checkout that is given for it. */
export async function* runSuites(
  names: readonly string[] | undefined,
  checkouts: ReadonlyMap<string, string>,
): AsyncGenerator<SuiteReport> {
  const known = suites.map(({ name }) => name)
  const strange = [...(names ?? []), ...checkouts.keys()].filter((name) => !known.includes(name))
  if (strange.length > 0) throw new Error(`no suite is called ${strange}, but ${known.join(', ')}`)
  for (const suite of suites) {
    if (names && !names.includes(suite.name)) continue
    yield await runSuite(suite, checkouts.get(suite.name))
  }
}

async function runSuite(suite: Suite, checkout?: string): Promise<SuiteReport> {
  const { name } = suite
  try {
    return await report(suite, await outcomesOf(suite, checkout))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    // The others are run all the same.
    return error instanceof Missing
      ? {
          name,
          counts: { passed: 0, failed: 0, skipped: 1 },
          lines: [`suite ${name} skipped: ${reason}`],
        }
      : {
          name,
          counts: { passed: 0, failed: 1, skipped: 0 },
          lines: [`suite ${name} failed: ${reason}`],
        }
  }
}

const env = {
  // For ffmpeg: some look at what was made of their files.
  PATH: process.env.PATH ?? '',
  // They try wrong keys of their own by the hundred.
  WRONG_KEYS_PER_MINUTE: '100000',
  WRONG_KEYS_PER_HOUR: '100000',
}

const outcomesOf = (suite: Suite, checkout?: string): Promise<readonly Outcome[]> =>
  withTeardown(async (t) => {
    const source = checkout ?? (await suite.published?.())
    if (!source) throw new Missing(`it is in no registry: give a checkout, ${suite.name}=FOLDER`)
    const folder = await mkdtemp(join(tmpdir(), 'chapar-suite-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    await cp(source, folder, { recursive: true, verbatimSymlinks: true })
    // What is published may lie where nothing can be written.
    await run(['chmod', '-R', 'u+w', '.'], folder)
    const service = await startService(t, { env })
    const scene = await openScene(t, service, suite.bot ?? 'suite_test_bot')
    const { env: told, replaced } = await suite.prepare(scene, folder)
    await replaceIn(folder, suite.changed, replaced)
    return suite.run(folder, told)
  })

async function filesIn(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = await readdir(path, { recursive: true })
  return names
    .filter((name) => /\.(ts|js|java|py|php|rb)$/.test(name))
    .map((name) => join(path, name))
}

/** Each text is in one of the files: one that the authors have changed is to be put in anew. */
async function replaceIn(
  folder: string,
  changed: Suite['changed'],
  replaced: Replaced,
): Promise<void> {
  const unused = new Set(replaced)
  const files = await Promise.all(changed.map((path) => filesIn(join(folder, path))))
  for (const file of files.flat()) {
    const whole = await readFile(file, 'utf8')
    let text = whole
    for (const each of replaced) {
      const [from, to] = each
      const isThere = typeof from === 'string' ? text.includes(from) : text.search(from) >= 0
      if (isThere) unused.delete(each)
      text = typeof from === 'string' ? text.replaceAll(from, () => to) : text.replace(from, to)
    }
    if (text !== whole) await writeFile(file, text)
  }
  if (unused.size > 0) throw new Error(`no test names ${[...unused].map(([from]) => from)}`)
}

async function report({ name, source }: Suite, outcomes: readonly Outcome[]): Promise<SuiteReport> {
  const leftOut = await leftOutOf(name)
  const having = (verdict: Outcome['verdict']) =>
    outcomes.filter((outcome) => outcome.verdict === verdict)
  const failures = having('failed')
  const failed = failures.filter((outcome) => !leftOut.has(outcome.name))
  const outdated = leftOut.notAmong(failures.map((outcome) => outcome.name))
  const passed = having('passed').length
  const [known, skipped] = [failures.length - failed.length, having('skipped').length]
  if (passed === 0) failed.push({ name: 'all', verdict: 'failed', reason: 'none passed' })
  const counts = { passed, failed: failed.length + outdated.length, skipped: known + skipped }
  const told = [
    `${passed} passed`,
    `${counts.failed} failed`,
    `${known} left out`,
    `${skipped} skipped by their authors`,
  ]
  const result = { source, passed, leftOut: known, skipped }
  return {
    name,
    counts,
    ...(counts.failed === 0 && { result }),
    lines: [
      `suite ${name}: ${told.join(', ')}`,
      ...failed.map(({ name, reason }) => `  ${name} failed: ${firstLines(reason)}`),
      ...outdated.map((name) => `  ${name} is left out, but does not fail`),
    ],
  }
}

const firstLines = (reason: string) =>
  stripVTControlCharacters(reason).split('\n').filter(Boolean).slice(0, 8).join(' ').slice(0, 900)
