/** `npm run fuzz -- --cases 100000 --seed 7`: any number of malformed requests; the seed repeats them. */
import { parseArgs } from 'node:util'
import { fuzz } from './fuzz.ts'
import { openWorld } from './world.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
  },
})
const [cases, seed] = [Number(values.cases), Number(values.seed)]
if (!Number.isSafeInteger(cases) || !Number.isSafeInteger(seed)) {
  throw new Error('--cases and --seed must be whole numbers')
}

// Also of a run that does not come to its end.
process.stdout.write(`${cases} cases, seed ${seed}\n`)

const toEnd: (() => Promise<void> | void)[] = []
const startedAt = performance.now()
try {
  const world = await openWorld({ teardown: (work) => void toEnd.unshift(work) })
  const { defects, statuses, unserved, slowestMs } = await fuzz(world, { cases, seed })
  const seconds = (performance.now() - startedAt) / 1_000
  const facts = { seconds, slowestMs, statuses, operations: world.operations.length }
  const notNow = Object.entries(unserved).map(([refusal, times]) => `${times} × ${refusal}`)
  const parts = [JSON.stringify(facts), notNow.join('\n'), ...defects]
  process.stdout.write(`${parts.filter((part) => part !== '').join('\n\n')}\n`)
  process.exitCode = defects.length === 0 ? 0 : 1
} finally {
  for (const work of toEnd) await work()
}
