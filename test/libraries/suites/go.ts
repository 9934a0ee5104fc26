/** Has the suites of Go libraries judge the sandbox. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Missing } from '../toolchains.ts'
import { change, copyModule, runTests, testsWith, type Verdict } from './go-module.ts'
import { openScene } from './go-scene.ts'
import { type GoSuite, goSuites } from './go-suites.ts'

export interface SuiteReport {
  readonly name: string
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number }
  /** `suite NAME: N passed, N failed, N skipped`, then what failed. */
  readonly lines: readonly string[]
}

export async function* runGoSuites(names?: readonly string[]): AsyncGenerator<SuiteReport> {
  for (const suite of goSuites) {
    if (!names || names.includes(suite.name)) yield await runGoSuite(suite)
  }
}

async function runGoSuite(suite: GoSuite): Promise<SuiteReport> {
  const closing: (() => Promise<void> | void)[] = []
  const t = { teardown: (work: () => Promise<void> | void) => void closing.unshift(work) }
  try {
    return report(suite, await verdicts(t, suite))
  } catch (error) {
    if (!(error instanceof Missing)) throw error
    const line = `suite ${suite.name}: 0 passed, 0 failed, 1 skipped: ${error.message}`
    return { name: suite.name, counts: { passed: 0, failed: 0, skipped: 1 }, lines: [line] }
  } finally {
    for (const close of closing) await close()
  }
}

async function verdicts(
  t: Parameters<typeof openScene>[0],
  suite: GoSuite,
): Promise<readonly Verdict[]> {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-suite-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await copyModule(suite, folder)
  const scene = await openScene(t, suite.names)
  await change(folder, suite.changes(scene))
  for (const [file, text] of Object.entries(suite.files?.(scene) ?? {})) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  const tests = join(folder, suite.folder ?? '.')
  const names = await testsWith(tests, suite.speaks)
  const { tags = '' } = suite
  return runTests(tests, { names, tags, env: suite.env?.(scene) ?? {} })
}

function report({ name, leftOut }: GoSuite, all: readonly Verdict[]): SuiteReport {
  const isLeftOut = (test: string) => Object.hasOwn(leftOut, test)
  const judged = all.filter((one) => !isLeftOut(one.name))
  const failed = judged.filter(({ verdict }) => verdict === 'fail')
  const passed = judged.filter(({ verdict }) => verdict === 'pass').length
  // A reason that no longer holds would hide what fails later.
  const stale = Object.keys(leftOut).filter(
    (test) => all.find((one) => one.name === test)?.verdict !== 'fail',
  )
  const counts = {
    passed,
    failed: failed.length + stale.length,
    skipped: all.length - passed - failed.length - stale.length,
  }
  const told = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`
  return {
    name,
    counts,
    lines: [
      `suite ${name}: ${told}`,
      ...failed.map((one) => `  ${one.name} failed: ${one.said.trim().slice(0, 1500)}`),
      ...stale.map((test) => `  ${test} is left out, but does not fail`),
    ],
  }
}
