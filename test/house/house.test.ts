/** The code's map keeps the figures it was given. */
import t from 'tap'
import { LIMITS, measureFlows } from './flows.ts'
import { measureSource } from './measure.ts'

t.test('the source keeps its limits', async (t) => {
  for (const { name, value, limit, items } of measureSource()) {
    t.ok(value <= limit, `${value} ${name}, at most ${limit}`, { found: items.slice(0, 50) })
  }
})

t.test('a request runs through few files', async (t) => {
  for (const { name, files } of await measureFlows(t)) {
    const limit = LIMITS[name]
    t.ok(limit !== undefined && files.length <= limit, `${files.length} for ${name}`, { files })
  }
})
