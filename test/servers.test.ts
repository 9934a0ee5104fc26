/** Who opens a port answers those who connect, even if the port is opened only to see whether it is free. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseSync, Visitor } from 'vite'

const root = join(import.meta.dirname, '..')

interface Node {
  readonly type: string
  readonly start: number
  readonly name?: string
  readonly value?: unknown
  readonly callee?: Node
  readonly object?: Node
  readonly property?: Node
  readonly arguments?: readonly Node[]
}

const MODULES = /^node:(net|tls|https?|http2)$/
const OPENING = /^(create(Secure)?Server|Server)$/
const HEARING = /^(on|once|addListener|prependListener)$/
const EVENT = /^(connection|secureConnection|request|stream|session)$/
const FUNCTION = /^(Arrow)?Function(Expression)?$/

/** A function among the arguments, or a second argument: alone it would be the options. */
const hasListener = (args: readonly Node[] = []) =>
  args.length > 1 || args.some(({ type }) => FUNCTION.test(type))

/** The places, by line, where a server is made that nobody listens to. */
function unansweredIn(text: string): string[] {
  const { program, errors } = parseSync('file.ts', text)
  if (errors[0]) throw new Error(errors[0].message)
  const makers = new Set<string>()
  const modules = new Set<string>()
  new Visitor({
    ImportDeclaration({ source, specifiers }) {
      if (!MODULES.test(String(source.value))) return
      for (const one of specifiers) {
        if (one.type !== 'ImportSpecifier') modules.add(one.local.name)
        else if (one.imported.type === 'Identifier' && OPENING.test(one.imported.name))
          makers.add(one.local.name)
      }
    },
  }).visit(program)
  const isMaker = ({ type, name = '', object, property }: Node): boolean =>
    type === 'MemberExpression'
      ? modules.has(object?.name ?? '') && OPENING.test(property?.name ?? '')
      : makers.has(name)
  const heard = new Set<number>()
  const made: number[] = []
  const note = (node: Node) => {
    const { callee, arguments: args } = node
    if (callee && isMaker(callee) && !hasListener(args)) made.push(node.start)
    // `createServer().on('connection', …)`: the call begins where the server is made.
    const isHeard = HEARING.test(callee?.property?.name ?? '')
    if (isHeard && EVENT.test(`${args?.[0]?.value}`)) heard.add(node.start)
  }
  new Visitor({
    CallExpression: (node) => note(node as unknown as Node),
    NewExpression: (node) => note(node as unknown as Node),
  }).visit(program)
  return made
    .filter((start) => !heard.has(start))
    .map((start) => `${text.slice(0, start).split('\n').length}`)
}

/** Those that get their listener later. */
const REVIEWED: Readonly<Record<string, number>> = {
  // `serverFactory` and `StartupServer` listen for the requests of what `plainServer` makes.
  'src/http/server.ts': 1,
}

t.test('every server has somebody who answers', async (t) => {
  const files = globSync(['{src,actors,machines}/**/*.{ts,tsx}', 'bin/**/*.mjs'], { cwd: root })
  t.ok(files.length > 500)
  const found: Record<string, number> = {}
  for (const file of files.sort()) {
    const text = readFileSync(join(root, file), 'utf8')
    if (!/['"]node:(net|tls|https?|http2)['"]/.test(text)) continue
    const count = unansweredIn(text).length
    if (count > 0) found[file] = count
  }
  const why = 'a connection that is accepted and not answered hangs: give it a listener'
  t.same(found, REVIEWED, why)
})

t.test('the rule finds what it is for', async (t) => {
  const net = `import { createServer as open } from 'node:net'\nimport * as http from 'node:http'\n`
  const found = (code: string) => unansweredIn(net + code)
  for (const code of [
    'open().listen(1)',
    'const server = open()',
    'open({ backlog: 1 }).listen(1)',
    "open(options).on('error', fail).listen(1)",
    'http.createServer()',
    'new http.Server()',
  ]) {
    t.same(found(code), ['3'], code)
  }
  for (const code of [
    'open((socket) => socket.destroy()).listen(1)',
    'open(options, answer)',
    "open().on('connection', answer).listen(1)",
    'http.createServer(function answer() {})',
    'createServer()',
  ]) {
    t.same(found(code), [], code)
  }
})
