/** The named mutants of the cluster still fit the source. Whether they are noticed is for `npm run mutants -- --named cluster`. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { applied, clusterMutants } from './cluster.ts'

const root = join(import.meta.dirname, '../..')

t.test('each changes the text that it names, and its test exists', async (t) => {
  for (const mutant of clusterMutants) {
    const source = readFileSync(join(root, mutant.file), 'utf8')
    t.not(applied(mutant, source), source, mutant.name)
    t.ok(existsSync(join(root, mutant.test)), mutant.test)
  }
})

t.test('a text that is there twice, or not at all, is refused', async (t) => {
  const mutant = { name: 'one', file: 'a.ts', from: 'x', to: 'y', test: 'a.test.ts' }
  t.equal(applied(mutant, 'a x b'), 'a y b')
  t.throws(() => applied(mutant, 'a'), /a\.ts has its text 0 times/)
  t.throws(() => applied(mutant, 'x x'), /a\.ts has its text 2 times/)
})
