/** Runs a share of the quick test files in one process: to load the service takes longer than most of them do. */
import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { deal } from './deal.ts'

const root = join(import.meta.dirname, '../..')
/** Most tests wait for something: two cores carry as many at once. */
const SHARES = globSync('test/together/share-*.ts', { cwd: root }).length
/** Milliseconds for one file, as `.taprc` has it for a process. */
const TIMEOUT = 300_000

/** They kill, flood, browse, wait out limits or start from nothing; only `npm run verify` and `npm test` run them. */
const slow = [
  'test/{bin,cluster,faults,fuzz,house,kill,libraries,openapi,panel,database/embedded}/**',
  'test/{http/{pace,sandbox-emptying,slow-clients},jobs/{queue-away,redis-away}}.test.ts',
  'test/media/{sound-and-film,costly-films}.test.ts',
  'test/{bulk/resume,deploy/haproxy}.test.ts',
  'test/nodes/{lost-owner,moves,nodes,processes,service-on-two,telegram}.test.ts',
  'test/platforms/ejabberd/**',
  'test/platforms/telegram-{contract,uploads}.test.ts',
  'test/platforms/xmpp-{contract,kept-rooms,late-archive,outage,servers,used-ids}.test.ts',
  'test/service/{draining,drop-signing-keys,lost-connections,process,start-failures,unlock}.test.ts',
  'test/service/{erasure-crash,erasure-races,passing-kill,webhook-crash}.test.ts',
  'test/service/{diagnosis-faults,linking,media-bytes,media-round-trips,method-table}.test.ts',
  'test/service/{refused-then-served,relinking,rich-rendered,sandbox-networks}.test.ts',
  'test/service/{sticker-sets,storage-trouble,two-addresses,upstream-restarts,upstream-topics}.test.ts',
  'test/service/{libraries,xmpp-bot,xmpp-health,xmpp-mellium}.test.ts',
]

const tests = new Map<string, Test>()

/** The test of one file, which that file imports as `tap`. */
export const testOf = (file: string): Test | undefined => tests.get(file)

/** Without this all files would share one root test, and the teardowns of each would wait for the last. */
function giveEachItsOwnTest(): void {
  const scheme = 'tap-of:'
  registerHooks({
    resolve(specifier, context, next) {
      const file = context.parentURL ?? ''
      if (specifier !== 'tap' || !tests.has(file)) return next(specifier, context)
      return { url: `${scheme}${file}`, format: 'module', shortCircuit: true }
    },
    load(url, context, next) {
      if (!url.startsWith(scheme)) return next(url, context)
      const [here, file] = [import.meta.url, url.slice(scheme.length)].map((each) =>
        JSON.stringify(each),
      )
      const source = `import { testOf } from ${here}; export default testOf(${file})`
      return { source, format: 'module', shortCircuit: true }
    },
  })
}

/** Measured seconds of the longer files; `time.ts` writes it. A file that is not in it is dealt all the same. */
const seconds: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'seconds.json'), 'utf8'),
)

/** @param share counted from 1. Every quick file belongs to exactly one. */
export function runShare(share: number): void {
  giveEachItsOwnTest()
  t.setTimeout(2 * TIMEOUT)
  const quick = globSync('test/**/*.test.ts', { cwd: root, exclude: slow }).sort()
  for (const file of deal(quick, seconds, SHARES)[share - 1] ?? []) {
    t.test(file, { timeout: TIMEOUT }, async (own) => {
      const { href } = pathToFileURL(join(root, file))
      tests.set(href, own)
      await import(href)
    })
  }
}
