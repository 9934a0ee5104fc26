/** The README knows every variable that the service reads. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { variableNames } from '../src/config/config.ts'

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8')

t.test('every variable has its place in the configuration table', async (t) => {
  for (const name of variableNames) t.ok(readme.includes(`\`${name}\``), name)
})
