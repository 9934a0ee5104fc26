/** `npm run docs`: writes the tables of docs/platforms.md anew. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withTables } from './platform-tables.ts'

const file = join(import.meta.dirname, '../../docs/platforms.md')
await writeFile(file, withTables(await readFile(file, 'utf8')))
