/** The panel's build, put in place while others do the same. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'

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

/** A project whose panel was built from other sources. */
function project(t: Test) {
  const root = t.testdir({
    'package-lock.json': '{}',
    node_modules: { vite: { bin: { 'vite.js': bundler } } },
    ready: {},
    src: { panel: { 'index.html': '' } },
    dist: { panel: { assets: {} } },
  })
  return { root, output: join(root, 'dist/panel') }
}

/** Resolves with what went wrong, if anything did. */
async function build(root: string, args: readonly string[] = []): Promise<string> {
  const work = `
    const { buildPanelWhenStale } = await import(${JSON.stringify(builder)})
    buildPanelWhenStale(${JSON.stringify(root)}, process.execPath)`
  const child = spawn(process.execPath, [...args, '--input-type=module', '--eval', work])
  const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return status === 0 ? 'built' : said
}

t.test('several that build at once leave one whole build', async (t) => {
  const { root, output } = project(t)
  for (let n = 0; n < FILES; n++) writeFileSync(join(output, 'assets', `old-${n}.png`), 'x')
  const ends = await Promise.all(Array.from({ length: BUILDERS }, () => build(root)))
  t.same([...new Set(ends)], ['built'])
  t.same(readdirSync(join(root, 'dist')), ['panel'], 'nothing is left over')
  t.equal(readdirSync(join(output, 'assets')).length, FILES)
  t.match(readFileSync(join(output, '.built-from'), 'utf8'), /^[0-9a-f]{64}$/)
})

t.test('a build that another moves away at once was in place all the same', async (t) => {
  const { root, output } = project(t)
  for (let other = 1; other < BUILDERS; other++) writeFileSync(join(root, 'ready', `${other}`), '')
  const another = `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { renameSync } = fs
    fs.renameSync = (from, to) => {
      renameSync(from, to)
      if (to === ${JSON.stringify(output)}) renameSync(to, to + '-moved')
    }
    syncBuiltinESMExports()`
  const preload = `data:text/javascript,${encodeURIComponent(another)}`
  t.equal(await build(root, ['--import', preload]), 'built')
  t.equal(readdirSync(join(`${output}-moved`, 'assets')).length, FILES)
})
