/** The tables of docs/platforms.md tell what the platforms can do now. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { withTables } from './platform-tables.ts'

t.test('the tables are up to date, or `npm run docs` makes them so', async (t) => {
  const document = await readFile(join(import.meta.dirname, '../../docs/platforms.md'), 'utf8')
  t.equal(withTables(document), document)
})
