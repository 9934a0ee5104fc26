/** Our table of the reference against the declarations that others derive from its documentation. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { REFERENCE_VERSION, reference } from '../../src/bot-api/reference.ts'

const folder = join(import.meta.dirname, '../../node_modules/@gramio/types/out')
const read = (file: string) => readFileSync(join(folder, file), 'utf8')

/** Methods and the names of their parameters, in the order of the declarations. */
function declared(): Record<string, string> {
  const methods = [...read('methods.d.ts').matchAll(/^ {4}(\w+): CallAPI/gm)].map(
    ([, name = '']) => name,
  )
  const blocks = new Map(
    [...read('params.d.ts').matchAll(/^export interface (\w+)Params \{\n(.*?)^\}/gms)].map(
      ([, name = '', body = '']) => [
        name.toLowerCase(),
        [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, field]) => field).join(' '),
      ],
    ),
  )
  return Object.fromEntries(methods.map((name) => [name, blocks.get(name.toLowerCase()) ?? '']))
}

t.test('methods and parameters are those of the version that the table names', async (t) => {
  t.match(read('params.d.ts'), `Based on Bot API v${REFERENCE_VERSION} `)
  const theirs = declared()
  t.equal(Object.keys(theirs).length, 185)
  t.strictSame(Object.keys(reference).sort(), Object.keys(theirs).sort())
  for (const [name, parameters] of Object.entries(theirs))
    t.equal(reference[name], parameters, name)
})
