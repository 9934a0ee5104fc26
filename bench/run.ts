/** Runs the benchmarks that are named, or all of them, and prints one table. */
import { writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { accounts } from './accounts.ts'
import { attacks } from './attacks.ts'
import { backlog } from './backlog.ts'
import { beside } from './beside.ts'
import { burst } from './burst.ts'
import { fanout } from './fanout.ts'
import { files } from './files.ts'
import { growth } from './growth.ts'
import { ingest } from './ingest.ts'
import { light } from './light.ts'
import { networks } from './networks.ts'
import { nodes } from './nodes.ts'
import { outages } from './outages.ts'
import { frames, panel } from './panel.ts'
import { partitioning } from './partitioning.ts'
import { passing } from './passing.ts'
import { send } from './send.ts'
import { start } from './start.ts'
import { type Benchmark, type Finding, tableOf } from './support/finding.ts'
import { dataDir, openTheatre } from './support/stage.ts'
import { tables } from './tables.ts'
import { uploads } from './uploads.ts'
import { waiting } from './waiting.ts'
import { webhooks } from './webhooks.ts'
import { xmpp } from './xmpp.ts'

const standard: Readonly<Record<string, Benchmark>> = {
  a: ingest,
  b: send,
  c: waiting,
  d: backlog,
  e: start,
  f: webhooks,
  g: files,
  h: xmpp,
  i: passing,
  j: nodes,
  k: fanout,
  l: light,
  m: tables,
  n: networks,
}
const all: Readonly<Record<string, Benchmark>> = {
  ...standard,
  tables,
  networks,
  partitioning,
  panel,
  frames,
  burst,
  fanout,
  light,
  attacks,
  growth,
  uploads,
  accounts,
  outages,
  beside,
}

const print = (line: string) => process.stdout.write(`${line}\n`)
const load = () => loadavg().map((value) => Number(value.toFixed(2)))

const { values: options, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    plans: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    sizes: { type: 'string', default: '1000,10000' },
    network: { type: 'string' },
    once: { type: 'boolean', default: false },
    tree: { type: 'string' },
    loads: { type: 'string' },
    node: { type: 'string' },
  },
})
const unknown = named.filter((name) => !(name in all))
if (unknown.length > 0) throw new Error(`no such benchmark: ${unknown.join(', ')}`)

const sizes = options.sizes.split(',').map(Number)
const theatre = await openTheatre((text) => print(`   ${text}`), { ...options, sizes })
const found: (Finding & { benchmark: string; load: number[] })[] = []
try {
  for (const name of named.length > 0 ? named : Object.keys(standard)) {
    const benchmark = all[name]
    if (!benchmark) continue
    const before = load()
    const began = performance.now()
    print(`${name}: ${benchmark.name}, load average ${before.join(' ')}`)
    for (const finding of await theatre.perform(name, benchmark)) {
      found.push({ benchmark: name, ...finding, load: before })
    }
    print(`   took ${((performance.now() - began) / 1000).toFixed(1)} s`)
  }
} finally {
  await theatre.close()
  print(`\n${tableOf(found)}`)
  print(`\n${availableParallelism()} cores, load average ${load().join(' ')}`)
  const file = join(dataDir, 'results.json')
  const results = { at: new Date(), node: process.version, found }
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`)
  print(`also in ${file}`)
}
