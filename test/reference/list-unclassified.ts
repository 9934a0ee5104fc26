/** The second step of `npm run adopt-reference`, which reads the new table: what has to be decided by hand. */
import { declarationsAsked } from './declarations.ts'
import { unclassified } from './unclassified.ts'

const lines = unclassified(declarationsAsked())
process.stdout.write(`${[...lines, `${lines.length} unclassified`].join('\n')}\n`)
process.exitCode = lines.length === 0 ? 0 : 1
