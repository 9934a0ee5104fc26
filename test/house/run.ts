/** `npm run house`: prints the figures of the code's map; with names of figures, also what makes them up. */
import { LIMITS, measureFlows } from './flows.ts'
import { measureSource } from './measure.ts'

const words = process.argv.slice(2)
const figures = measureSource()
for (const { name, value, limit, aim = limit, items } of figures) {
  const verdict = value <= limit ? '' : '  EXCEEDED'
  const asked = aim < limit ? `, asked ${aim}` : ''
  process.stdout.write(`${name.padEnd(32)} ${value} (at most ${limit}${asked})${verdict}\n`)
  if (words.some((word) => name.includes(word))) process.stdout.write(`  ${items.join('\n  ')}\n`)
}
if (words.length === 0 || words.includes('flows')) {
  const work: (() => Promise<void> | void)[] = []
  const flows = await measureFlows({ teardown: (ended) => void work.push(ended) })
  for (const { name, files } of flows) {
    const limit = LIMITS[name] ?? 0
    const verdict = files.length <= limit ? '' : '  EXCEEDED'
    process.stdout.write(`${name.padEnd(36)} ${files.length} files (at most ${limit})${verdict}\n`)
    if (words.includes('flows')) process.stdout.write(`  ${files.join('\n  ')}\n`)
  }
  for (const ended of work.reverse()) await ended()
}
