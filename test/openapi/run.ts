/** `npm run test:schemathesis -- EXAMPLES`: the long form of the test, with so many invented requests for each operation. */
import { judgePart, PARTS } from './schemathesis.ts'

const examples = Number(process.argv[2] ?? 30)
const closing: (() => Promise<void> | void)[] = []
const t = { teardown: (work: () => Promise<void> | void) => void closing.unshift(work) }
try {
  for (const part of Object.keys(PARTS) as (keyof typeof PARTS)[]) {
    const judged = await judgePart(t, part, { examples, phases: ['coverage', 'fuzzing'] })
    const { passed, said, operations, cases } = judged
    if (!passed) process.stdout.write(said)
    const verdict = passed ? 'passed' : 'failed'
    process.stdout.write(`${part}: ${operations} operations, ${cases} requests, ${verdict}\n`)
    if (!passed) process.exitCode = 1
  }
} finally {
  for (const close of closing) await close()
}
