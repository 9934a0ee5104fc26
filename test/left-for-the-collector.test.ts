/** What is made for each request or message leaves nothing for a collection of the whole heap. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const find = (pattern: string) => globSync(pattern, { cwd: root }).sort()

/** Few keys, each for long; what belongs to one request or one page stands in the request or the page. */
const mayMapWeakly = [
  'src/diagnosis/diagnoses.ts',
  'src/http/connections.ts',
  'src/jobs/backend.ts',
  'src/links/flows.ts',
]

t.test('no WeakMap holds what is made for each request', async (t) => {
  // V8 collects young objects as if every value of an old WeakMap were alive.
  const found = find('{machines,actors,src}/**/*.ts').filter((file) =>
    /new WeakMap\b/.test(read(file)),
  )
  t.strictSame(found, mayMapWeakly)
})

/** What begins seldom, or goes on after its call as a stream does. */
const mayJoinSignals = [
  'src/platforms/kit/platform.ts',
  'src/platforms/kit/session-life.ts',
  'src/platforms/telegram/files.ts',
  'src/platforms/upstream-bot/session.ts',
  'src/platforms/xmpp/media/measure.ts',
  'src/platforms/xmpp/rooms/entrance.ts',
  'src/platforms/xmpp/transport.ts',
]

t.test(
  'no signals are joined for each message of a network: see limited() in actors/host/time.ts',
  async (t) => {
    const found = find('src/platforms/**/*.ts').filter((file) =>
      /AbortSignal\.any\b/.test(read(file)),
    )
    t.strictSame(found, mayJoinSignals)
  },
)

/** What ends with a request, a session, a step of a link, or the files that are sealed at this moment; and a race at the end alone. */
const mayRaceWithOwn = [
  'actors/node/lease.ts',
  'src/http/nodes/body-copy.ts',
  'src/jobs/redis-queues.ts',
  'src/media/sealing.ts',
  'src/media/spool.ts',
  'src/platforms/telegram/link/qr.ts',
]

t.test('no race is run against what lasts: each would be held for as long', async (t) => {
  // A signal whose listener is removed holds nothing: see unlessAborted() in src/platforms/kit/session-life.ts.
  const found = find('{machines,actors,src}/**/*.ts').filter((file) =>
    /Promise\.race\([^;\n]*?this\.#\w+(\.promise)?[\],)]/.test(read(file)),
  )
  t.strictSame(found, mayRaceWithOwn)
})
