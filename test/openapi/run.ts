/** `npm run test:schemathesis [-- --examples N] [--only PART]`: the long form of the test, with so many invented requests for each operation. */
import { parseArgs } from 'node:util'
import { judgePart, PARTS } from './schemathesis.ts'

const { values } = parseArgs({
  options: { examples: { type: 'string', default: '30' }, only: { type: 'string' } },
})
const closing: (() => Promise<void> | void)[] = []
const t = { teardown: (work: () => Promise<void> | void) => void closing.unshift(work) }
const parts = Object.keys(PARTS) as (keyof typeof PARTS)[]
try {
  for (const part of parts.filter((name) => values.only === undefined || name === values.only)) {
    const begun = performance.now()
    const budget = { examples: Number(values.examples), phases: ['coverage', 'fuzzing'] } as const
    const { passed, said, operations, cases } = await judgePart(t, part, budget)
    if (!passed) process.stdout.write(said)
    const verdict = passed ? 'passed' : 'failed'
    const seconds = Math.round((performance.now() - begun) / 1_000)
    process.stdout.write(
      `${part}: ${operations} operations, ${cases} requests, ${verdict} (${seconds} s)\n`,
    )
    if (!passed) process.exitCode = 1
  }
} finally {
  for (const close of closing) await close()
}
