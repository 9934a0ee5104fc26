/** What continuous integration reads: totals as the last line, and a failure that stays one. */
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'

/** The script in a folder of its own, with an npm that says and does what it is told. */
interface Npm {
  readonly lint?: number
  readonly types?: number
  readonly test?: number
  readonly says?: string
  /** The files that fail, and how they end when they run alone. */
  readonly failing?: readonly string[]
  readonly alone?: number
}

function run(t: Test, npm: Npm) {
  const folder = t.testdir({ '.ci': {}, tools: {} })
  const script = join(folder, '.ci', 'run')
  copyFileSync('.ci/run', script)
  const { lint = 0, types = 0, test = 0, says = '', failing = [], alone = 99 } = npm
  writeFileSync(join(folder, 'says'), says)
  const tools = {
    npm: `echo "$*" >> asked
case "$*" in
  *lint*) exit ${lint} ;;
  *types*) exit ${types} ;;
  *--jobs=1*) exit ${alone} ;;
  "test -- --save="*) ${failing.map((file) => `echo ${file} >> "\${3#--save=}";`).join(' ')} cat says; exit ${test} ;;
esac
exit 99`,
    // Nothing is missing, and nothing is installed by a test.
    'dpkg-query': 'echo installed',
    'apt-get': 'exit 99',
  }
  mkdirSync(join(folder, 'tools'), { recursive: true })
  for (const [name, text] of Object.entries(tools)) {
    const path = join(folder, 'tools', name)
    writeFileSync(path, `#!/bin/sh\n${text}\n`)
    chmodSync(path, 0o755)
  }
  const PATH = `${join(folder, 'tools')}:${process.env.PATH}`
  const { status, stdout } = spawnSync('bash', [script], {
    env: { ...process.env, PATH },
    encoding: 'utf8',
  })
  const lines = stdout.trimEnd().split('\n')
  return { status, last: lines.at(-1), lines }
}

const says = 'passed a.test.ts\n\nin 3.0 s\n12 passed, 0 failed, 3 skipped\n'

t.test('the totals of the tests come last', async (t) => {
  t.match(run(t, { says }), { status: 0, last: '12 passed, 0 failed, 3 skipped' })
  const failing = 'in 3.0 s\n11 passed, 1 failed\n'
  t.match(run(t, { says: failing, test: 1 }), { status: 1, last: '11 passed, 1 failed' })
})

t.test('a check that fails is a failure, and the tests run all the same', async (t) => {
  for (const check of ['lint', 'types'] as const) {
    const { status, last, lines } = run(t, { says, [check]: 1 })
    t.equal(status, 1, check)
    t.equal(last, '12 passed, 0 failed, 3 skipped')
    t.ok(lines.includes(`ci: ${check} failed`))
  }
})

t.test('tests that say nothing have failed', async (t) => {
  t.match(run(t, {}), { status: 1, last: '0 passed, 1 failed' })
  t.match(run(t, { says, test: 1 }), { status: 1 }, 'whatever their totals are')
})

t.test('a few files that fail run once more, alone, and are named', async (t) => {
  const flaky = { says: 'in 3.0 s\n9 passed, 2 failed, 1 skipped\n', test: 1 }
  const failing = ['test/a.test.ts', 'test/b.test.ts']
  const again = run(t, { ...flaky, failing, alone: 0 })
  t.match(again, { status: 0, last: '11 passed, 0 failed, 1 skipped' })
  t.ok(again.lines.some((line) => line.includes('test/a.test.ts test/b.test.ts')))
  const twice = run(t, { ...flaky, failing, alone: 1 })
  t.match(twice, { status: 1, last: '9 passed, 2 failed, 1 skipped' })
  const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `test/${name}.test.ts`)
  t.match(run(t, { ...flaky, failing: many, alone: 0 }), { status: 1 }, 'but not many')
  t.match(run(t, { ...flaky, failing, alone: 0, lint: 1 }), { status: 1 }, 'nor a check')
})
