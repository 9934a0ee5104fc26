/** Writes the table of times anew, from the output of a whole run: `npm test | node test/together/time.ts`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Shorter files need no line: together they are spread evenly. */
const SHORTEST = 2

const output = await text(process.stdin)
const times = [...output.matchAll(/^passed +(\S+\.test\.ts) \((\d+) ms\)$/gm)]
  .map(([, file = '', ms = '']) => [file, Math.round(Number(ms) / 100) / 10] as const)
  .filter(([, seconds]) => seconds >= SHORTEST)
  .sort(([a], [b]) => (a < b ? -1 : 1))
if (times.length === 0) throw new Error('no times of test files in the input')
const table = join(import.meta.dirname, 'seconds.json')
writeFileSync(table, `${JSON.stringify(Object.fromEntries(times), null, 2)}\n`)
