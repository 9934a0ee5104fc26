/** The panel's build, put in place while others do the same. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'

const builder = join(import.meta.dirname, '../../bin/panel.mjs')

const BUILDERS = 4
/** So many that to remove them takes longer than to put others in place. */
const FILES = 2_000

/** As Vite does it; all are done at the same moment. */
const bundler = `
const { mkdirSync, readdirSync, writeFileSync } = require('node:fs')
const output = process.argv[process.argv.indexOf('--outDir') + 1]
mkdirSync(output + '/assets', { recursive: true })
for (let n = 0; n < ${FILES}; n++) writeFileSync(output + '/assets/' + n + '.png', 'x')
writeFileSync('ready/' + process.pid, '')
while (readdirSync('ready').length < ${BUILDERS}) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
`

t.test('several that build at once leave one whole build', async (t) => {
  const root = t.testdir({
    'package-lock.json': '{}',
    node_modules: { vite: { bin: { 'vite.js': bundler } } },
    ready: {},
    src: { panel: { 'index.html': '' } },
    // What was built from other sources.
    dist: { panel: { assets: {} } },
  })
  const output = join(root, 'dist/panel')
  for (let n = 0; n < FILES; n++) writeFileSync(join(output, 'assets', `old-${n}.png`), 'x')
  const build = `
    const { buildPanelWhenStale } = await import(${JSON.stringify(builder)})
    buildPanelWhenStale(${JSON.stringify(root)}, process.execPath)`
  const ends = await Promise.all(
    Array.from({ length: BUILDERS }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', build])
      const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')])
      return status === 0 ? 'built' : said
    }),
  )
  t.same([...new Set(ends)], ['built'])
  t.same(readdirSync(join(root, 'dist')), ['panel'], 'nothing is left over')
  t.equal(readdirSync(join(output, 'assets')).length, FILES)
  t.match(readFileSync(join(output, '.built-from'), 'utf8'), /^[0-9a-f]{64}$/)
})
