/** The rules that keep the code in order: what may import what, and how a file looks. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { circles } from './house/graph.ts'
import { readProduction } from './house/source.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const find = (...patterns: string[]) =>
  patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).sort()

const code = find('machines/**/*.ts', 'actors/**/*.ts', 'src/**/*.ts')
const everything = [...code, ...find('test/**/*.ts', 'bench/**/*.ts', 'bin/**/*.mjs')]

/** Statements as the formatter lays them out, and calls of `import` with a literal. */
const importing = /^(?:import|export) (?:[^'"=()]*? from )?'([^']+)'|\bimport\('([^']+)'\)/gm
const importsOf = (file: string) =>
  [...read(file).matchAll(importing)].map(([, by = '', called = '']) => by || called)

/** `@scope/name/part` belongs to the package `@scope/name`. */
const packageOf = (specifier: string) =>
  specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')

const isRelative = (specifier: string) => specifier.startsWith('.')
const isBuiltIn = (specifier: string) => specifier.startsWith('node:')
const topFolderOf = (path: string) => path.split('/', 1)[0] ?? ''

/** Dependencies point one way: src → actors → machines. */
const layers = {
  machines: { layers: ['machines'], packages: ['xstate'], builtIns: false },
  actors: { layers: ['actors', 'machines'], packages: ['xstate'], builtIns: true },
} as const

for (const [layer, may] of Object.entries(layers)) {
  t.test(`${layer} imports only ${[...may.layers, ...may.packages].join(', ')}`, async (t) => {
    for (const file of find(`${layer}/**/*.ts`)) {
      for (const specifier of importsOf(file)) {
        const target = isRelative(specifier) ? topFolderOf(join(dirname(file), specifier)) : ''
        const isAllowed = isRelative(specifier)
          ? may.layers.some((name) => name === target)
          : isBuiltIn(specifier)
            ? may.builtIns
            : may.packages.some((name) => name === packageOf(specifier))
        t.ok(isAllowed, `${file} imports ${specifier}`)
      }
    }
  })
}

t.test('outside actors and machines, only types come from XState', async (t) => {
  const statements = /^(?:import|export)\b[^'"]*'xstate['/]|\bimport\('xstate['/]/gm
  const found = find('src/**/*.ts', 'src/**/*.tsx').flatMap((file) =>
    [...read(file).matchAll(statements)].map(([line]) => ({ file, line })),
  )
  t.not(found.length, 0)
  for (const { file, line } of found) t.match(line, /^import type /, file)
})

/** From the lowest to the highest; the files beside these folders join them and may import all. */
const sandboxRooms = [
  'network',
  'delivery',
  'files',
  'stickers',
  'chats',
  'boosts',
  'business',
  'gifts',
  'polls',
  'messages',
  'inline',
  'payments',
  'games',
  'topics',
  'stories',
  'people',
  'bots',
]
const sandboxRoomOf = (path: string) => /^src\/sandbox\/(\w+)\//.exec(path)?.[1]

t.test('a room of the sandbox imports only rooms below it', async (t) => {
  for (const file of find('src/sandbox/*/*.ts')) {
    const own = sandboxRooms.indexOf(sandboxRoomOf(file) ?? '')
    t.not(own, -1, file)
    for (const specifier of importsOf(file).filter(isRelative)) {
      const target = join(dirname(file), specifier)
      if (!target.startsWith('src/sandbox/')) continue
      const room = sandboxRooms.indexOf(sandboxRoomOf(target) ?? '')
      t.ok(room !== -1 && room <= own, `${file} imports ${specifier}`)
    }
  }
})

t.test('the sandbox is a messenger that knows nothing of its connector', async (t) => {
  for (const file of find('src/sandbox/**/*.ts')) {
    const targets = importsOf(file).map((specifier) => join(dirname(file), specifier))
    t.notOk(
      targets.some((target) => target.startsWith('src/platforms/sandbox/')),
      file,
    )
  }
})

t.test('no files of the sandbox import each other in a circle, not even types', async (t) => {
  const files = readProduction().filter(({ path }) => /^src\/(platforms\/)?sandbox\//.test(path))
  t.not(files.length, 0)
  t.same(circles(files, true), [])
})

t.test('the service imports nothing of its tests, tools or benchmarks', async (t) => {
  for (const file of code) {
    const outside = importsOf(file)
      .filter(isRelative)
      .map((specifier) => join(dirname(file), specifier))
      .filter((path) => !['src', 'actors', 'machines'].includes(topFolderOf(path)))
      // What the launcher has to know as well, and an older Node.js runs that one.
      .filter((path) => path !== 'bin/runtime.mjs')
    t.same(outside, [], file)
  }
})

/** Each of these packages can be replaced in one folder. */
const homes: Readonly<Record<string, string>> = {
  fastify: 'src/http/',
  '@mikro-orm/core': 'src/database/',
  '@mikro-orm/migrations': 'src/database/',
  '@mikro-orm/postgresql': 'src/database/',
  pg: 'src/database/',
  kysely: 'src/database/',
  bullmq: 'src/jobs/',
  ioredis: 'src/jobs/',
  'rate-limiter-flexible': 'src/nodes/',
  piscina: 'src/media/',
  sharp: 'src/media/',
  'file-type': 'src/media/',
  s3mini: 'src/media/',
  jose: 'src/accounts/',
  nodemailer: 'src/net/',
  'prom-client': 'src/observability/',
  '@xmpp/client': 'src/platforms/xmpp/',
  '@mtcute/core': 'src/platforms/telegram/',
  '@mtcute/node': 'src/platforms/telegram/',
  react: 'src/panel/',
}

const homeOf = (specifier: string) => {
  const name = packageOf(specifier)
  return homes[name] ?? (name.startsWith('@fastify/') ? 'src/http/' : undefined)
}

t.test('no tool loads the test runner, which would end it after half a minute', async (t) => {
  const loading = /^(?:import|export) (?!type )(?:[^'"=()]*? from )?'([^']+)'/gm
  const whichLoad = new Map<string, string>()
  const visit = (file: string, by: string): void => {
    if (whichLoad.has(file)) return
    whichLoad.set(file, by)
    for (const [, specifier = ''] of read(file).matchAll(loading)) {
      t.not(specifier, 'tap', `${file}, loaded by ${by}`)
      if (isRelative(specifier)) visit(join(dirname(file), specifier), file)
    }
  }
  const tools = [
    ...find('test/*/run.ts', 'bench/run.ts', 'bench/**/*-process.ts', 'test/**/*-process.ts'),
    ...find('test/docs/write.ts', 'test/panel/screenshots.ts', 'test/reference/*.ts'),
  ]
  for (const tool of tools.filter((file) => !file.endsWith('.test.ts'))) visit(tool, tool)
  t.ok(whichLoad.has('test/support/service.ts'))
})

t.test('each toolkit is imported in one folder only', async (t) => {
  for (const file of code) {
    for (const specifier of importsOf(file)) {
      const home = homeOf(specifier)
      if (home !== undefined) t.ok(file.startsWith(home), `${file} imports ${specifier}`)
    }
  }
})

t.test('the service imports only packages that are installed in production', async (t) => {
  const { dependencies } = JSON.parse(read('package.json'))
  for (const file of code) {
    for (const specifier of importsOf(file)) {
      if (isRelative(specifier) || isBuiltIn(specifier)) continue
      t.ok(packageOf(specifier) in dependencies, `${file} imports ${specifier}`)
    }
  }
})

t.test('only src/config/config.ts reads the environment', async (t) => {
  for (const file of code.filter((file) => file !== 'src/config/config.ts')) {
    t.notOk(/process\.env\b/.test(read(file)), file)
  }
})

t.test('no cache sets memory aside for entries that it does not have', async (t) => {
  let seen = 0
  for (const file of find('src/**/*.ts')) {
    const options = [...read(file).matchAll(/new LRUCache\b[^(]*\(\{([^}]*)\}\)/g)]
    seen += options.length
    // lru-cache makes its arrays of the length `max` at once; a bound in sizes has no such cost.
    for (const [, given = ''] of options) t.notOk(/\bmax:/.test(given), file)
  }
  t.ok(seen >= 10)
})

t.test('only one file makes web streams of bytes', async (t) => {
  const making = /\btoWeb\(|\bReadableStream\.from\(|\bnew ReadableStream\b/
  for (const file of code.filter((file) => file !== 'src/media/web-stream.ts')) {
    t.notOk(making.test(read(file)), file)
  }
})

t.test('machines read no clock and set no timer', async (t) => {
  const impure =
    /\bDate\.now\b|\bnew Date\(\)|\bset(?:Timeout|Interval|Immediate)\b|\bMath\.random\b/
  for (const file of find('machines/**/*.ts')) t.notOk(impure.test(read(file)), file)
})

/** A machine must fit the eye; elsewhere one concept may take more room. */
const longest = (file: string) => (file.startsWith('machines/') ? 250 : 400)

t.test('a file has at most 400 lines, a machine 250', async (t) => {
  for (const file of everything) {
    const lines = read(file).trimEnd().split('\n').length
    t.ok(lines <= longest(file), `${file} has ${lines}`)
  }
})

t.test('every connection to the database has a listener for its errors', async (t) => {
  let seen = 0
  for (const file of everything.filter((file) => file.startsWith('src/'))) {
    const text = read(file)
    const made = text.match(/new pg\.(Client|Pool)\(/g)?.length ?? 0
    seen += made
    t.ok(
      (text.match(/\.on\('error'/g)?.length ?? 0) >= made,
      `${file}: the loss of one ends the process`,
    )
  }
  t.ok(seen >= 5)
})

t.test('a file says on its first line what it is', async (t) => {
  for (const file of everything) {
    const [first = '', second = ''] = read(file).split('\n')
    const sentence = first.startsWith('#!') ? second : first
    t.match(sentence, /^\/\*\* .+/, file)
  }
})

t.test('no file switches a check off', async (t) => {
  // Written in parts, or this file would find itself.
  const switches = [
    ['biome', 'ignore'],
    ['@ts', 'ignore'],
    ['@ts', 'nocheck'],
    ['@ts', 'expect'],
  ]
  for (const file of everything) {
    const found = switches.map((parts) => parts.join('-')).filter((it) => read(file).includes(it))
    t.same(found, [], file)
  }
})

/** Calls whose promise is not awaited. Each was reviewed: it handles its own errors, or returns no promise. */
const unawaited: Readonly<Record<string, readonly string[]>> = {
  'actors/api-key/effects.ts': ['settle'],
  'actors/credential/effects.ts': ['this.#signedOut'],
  'actors/credential/report.ts': ['this.#run'],
  'actors/host/host.ts': ['failure.then'],
  'actors/node/actor.ts': ['beat', 'this.#declare'],
  'actors/node/lease.ts': ['this.#ends.delete'],
  'actors/webhook/delivery.ts': ['this.#attempt', 'this.#feed.read'],
  'src/accounts/suspensions.ts': ['this.#look'],
  'src/composition/core.ts': ['events.emit', 'webhookWaker.claimed', 'webhookWaker.resumed'],
  'src/credentials/ownership.ts': ['this.check'],
  'src/database/database.ts': ['client.once'],
  'src/database/write-behind.ts': ['line.#drain', 'this.#drain', 'this.flush'],
  'src/database/write-watch.ts': ['this.#findOut'],
  'src/gateway.ts': ['remind'],
  'src/http/nodes/forwarding.ts': ['this.#forward', 'this.#forwardByBody', 'this.#forwardServed'],
  'src/http/bot/routes.ts': ['reply.send'],
  'src/http/health.ts': ['checks.push'],
  'src/jobs/jobs.ts': ['handlers.set', 'remind'],
  'src/jobs/redis-queues.ts': ['this.#go', 'this.#open'],
  'src/keys/store.ts': ['this.#positions.flush'],
  'src/maintenance.ts': ['core.links.endLeft'],
  'src/nodes/carriers.ts': ['this.#ask', 'this.#subscribe'],
  'src/nodes/nodes.ts': ['events.emit', 'events.on'],
  'src/nodes/sign-outs.ts': ['this.look'],
  'src/observability/metrics.ts': ['censuses.set'],
  'src/observability/request-journal.ts': ['this.#flushRecords', 'this.flush'],
  'src/sandbox/messages/send.ts': ['this.#drain'],
  'src/security/vault.ts': ['listeners.push'],
  'src/platforms/sandbox/platform.ts': ['session.open'],
  'src/platforms/sandbox/session.ts': ['this.#readOn'],
  'src/platforms/xmpp/media/measure.ts': ['reader.cancel'],
  'src/platforms/xmpp/outbox.ts': ['this.#writeAll'],
  'src/platforms/xmpp/rooms/rooms.ts': ['this.#clear'],
  'src/platforms/xmpp/rooms/tending.ts': ['this.#go'],
  'src/platforms/xmpp/stream.ts': ['stored.then', 'this.#recover'],
  'src/updates/group-commit.ts': ['this.#run'],
  'src/updates/log.ts': ['log.last.then'],
  'src/webhooks/endpoint.ts': ['this.#executeReplyCall'],
  'src/webhooks/progress-store.ts': ['this.#writeAll'],
  'src/webhooks/secrets.ts': ['this.#load'],
  'src/webhooks/waker.ts': ['this.#lookAgain'],
}

t.test('a promise that is not awaited was reviewed', async (t) => {
  for (const file of code.filter((file) => !file.startsWith('src/panel/'))) {
    const found = [...read(file).matchAll(/(?<!return )\bvoid ((?:[\w#]+\.)*[\w#]+)\(/g)]
    const calls = found.map(([, call = '']) => call)
    t.same([...new Set(calls)].sort(), unawaited[file] ?? [], file)
  }
})

t.test('no check is switched off in the code it would speak of', async (t) => {
  const files = [...everything, ...find('src/**/*.tsx', 'src/**/*.css')]
  const switches = /biome[-]ignore|@ts[-](?:ignore|expect-error|nocheck)|eslint[-]disable/
  t.same(
    files.filter((file) => switches.test(read(file))),
    [],
  )
})

t.test('what a failure says is compared whole', async (t) => {
  const patterns = /\b(?:description|last_error_message)\b['"]?(?::|,)\s+\/(.+)\/[a-z]*(?=[\s,)])/g
  const found = find('test/**/*.ts').filter((file) =>
    [...read(file).matchAll(patterns)].some(([, text = '']) => !/^\^.*\$$/.test(text)),
  )
  t.same(found, [])
})

t.test('programs go by the code and the reason of a failure, not by its text', async (t) => {
  const compared = /failure\.description\s*(?:[!=]==|\.\w+\()/
  const given = /(?:test|exec|includes)\(\s*[\w.]*failure\.description\b/
  const found = [...code, ...find('src/panel/**/*.tsx')].filter(
    (file) => compared.test(read(file)) || given.test(read(file)),
  )
  t.same(found, [])
})

/** These match the words of Node.js, PostgreSQL, Piscina, a network or a browser. */
const matchesWordsOfOthers = [
  'src/database/embedded/cluster.ts',
  'src/database/embedded/launch.ts',
  'src/database/failures.ts',
  'src/media/pool.ts',
  'src/panel/ui/states.tsx',
]

t.test('no regular expression reads a sentence of the service back', async (t) => {
  const literals =
    /(?<=[=(,:\s[!&|?])\/(?![/*])((?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n[])+)\/[a-z]*(?=\s*[,;)\].\n}])/g
  const prose = /[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}/
  const found = [...code, ...find('src/panel/**/*.tsx')].filter((file) => {
    const withoutComments = read(file).replaceAll(/^\s*(?:\/\/|\/\*\*|\*).*$/gm, '')
    return [...withoutComments.matchAll(literals)].some(([, text = '']) => prose.test(text))
  })
  t.same(found.sort(), matchesWordsOfOthers)
})

t.test(
  'no test searches the source for words: a union of codes is complete by its type',
  async (t) => {
    const sources = /(?:src|machines|actors)\/[^'"`\n]*\*[^'"`\n]*\.tsx?['"`]/
    const found = find('test/**/*.ts').filter((file) => sources.test(read(file)))
    const rules = ['test/architecture.test.ts', 'test/left-for-the-collector.test.ts']
    t.same(found, [...rules, 'test/panel/layers.test.ts'])
  },
)

t.test(
  'a new operation touches the model, its method, and a file or two of each network',
  async (t) => {
    const naming = code.filter((file) => /\bcreate_topic\b/.test(read(file)))
    t.ok(naming.length <= 8, naming.join(', '))
  },
)

/** These speak of a part of a parameter or of stickers, and not of a chat, a person or a message. */
const partsNotFound = [
  'src/bot-api/input-sticker.ts',
  'src/bot-api/rich/content.ts',
  'src/sandbox/chats/settings.ts',
]

t.test('what is not found is refused with a reason, not by a sentence alone', async (t) => {
  const plain =
    /\b(?:bad|badRequest|failed)\((?:\s*'bad_request',)?\s*(?:[\w ><=!.]+\? )?(['`])[^'`\n]* not found\1\s*,?\s*[):]/
  t.same(
    code.filter((file) => plain.test(read(file))),
    partsNotFound,
  )
})
