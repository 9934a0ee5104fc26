/** Linters and generators of others read /openapi.json: clients that are generated from it compile, and work. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { Missing, nodeWith, pythonWith } from '../libraries/toolchains.ts'
import { startService } from '../support/service.ts'

/** What is not held against the document, by the beginning of what the linters say. */
const ACCEPTED = {
  'spectral info-contact': 'whoever runs the service is asked',
  'spectral license-url': 'the licence has its identifier in place of an address',
  'spectral openapi-tags-alphabetical': 'tags stand in the order in which a reader needs them',
  'spectral oas3-operation-security-defined': 'since 3.1 a key, too, names the roles that it needs',
  'spectral operation-description': 'a summary says it, where there is no more to say',
  'spectral oas3-parameter-description': 'names of most parameters say it',
  'redocly no-server-example.com': 'a service that is tried out is at localhost',
  'redocly no-ambiguous-paths': 'a fixed word in a path comes before a parameter',
  'redocly no-illogical-composition-keywords':
    'a form of a bot call is of a type of its own, by which some clients choose the encoding',
  'redocly operation-4xx-response': 'the default response describes all failures',
} as const

const judges = join(import.meta.dirname, 'judges')
const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
const service = await startService(t, {
  env: {
    BASE_URL: 'https://chapar.example.org',
    METRICS_TOKEN: 'reads-figures-here',
    OPERATOR_TOKEN: 'orders-nodes-here',
  },
})
const description = await (await fetch(`${service.url}/openapi.json`)).text()

/** A folder for one test within that of the packages; undefined where they are not to be had, which skips the test. */
async function workplace(t: Test, packages: Promise<string>): Promise<string | undefined> {
  const folder = await packages.catch((error) => {
    if (error instanceof Missing) return error
    throw error
  })
  if (folder instanceof Missing) {
    await t.test('is judged', { skip: folder.message }, () => undefined)
    return undefined
  }
  const place = await mkdtemp(join(folder, 'run-'))
  t.teardown(() => rm(place, { recursive: true, force: true }))
  await writeFile(join(place, 'openapi.json'), description)
  return place
}

/** What a program prints. Throws with what it complains of when it fails. */
async function saidBy(program: ChildProcess): Promise<string> {
  const [said, complained, [code]] = await Promise.all([
    text(program.stdout!),
    text(program.stderr!),
    once(program, 'exit'),
  ])
  if (code !== 0) throw new Error(`${said}${complained}`.slice(-4_000))
  return said
}

/** The test runner has each program of Node.js load more, with which not all of them run. */
const run = (cwd: string, ...command: string[]) =>
  saidBy(spawn('env', ['-u', 'NODE_OPTIONS', ...command], { cwd }))

/** Runs a client; the code for its phone goes to its input. Checks what it tells of its five minutes. */
async function fiveMinutes(t: Test, client: ChildProcess, phone: string, name: string) {
  service.code(phone).then((code) => client.stdin!.end(`${code}\n`), t.error)
  const { me, sent, ...seen } = JSON.parse(await saidBy(client))
  t.match(me, { is_bot: true, username: `${name}1` })
  t.match(sent, { chat: { username: `${name}2` }, text: 'Hello!', date: Number })
  t.strictSame(seen, {
    accounts: ['active'],
    received: ['Hello!'],
    refusal: 'Bad Request: chat not found',
    errors: { 400: 1 },
    log: ['sendMessage 400', 'sendMessage 200', 'getMe 200'],
  })
}

/** Each table in a value, with its path. */
function* tablesIn(value: unknown, path = ''): Generator<readonly [path: string, table: object]> {
  if (typeof value !== 'object' || value === null) return
  yield [path, value]
  for (const [name, part] of Object.entries(value)) yield* tablesIn(part, `${path}/${name}`)
}

t.test('openapi-generator makes nothing of it that no Java compiler takes', async (t) => {
  const found: string[] = []
  for (const [path, table] of tablesIn(JSON.parse(description))) {
    // Sets of words without a name, and null beside a reference in a closed table: it writes types that there are not.
    const { uniqueItems, items, properties, additionalProperties: more } = table as Described
    if (uniqueItems === true && items?.enum) found.push(path)
    for (const [name, { oneOf = [] }] of more === false ? Object.entries(properties ?? {}) : [])
      if (oneOf.some(({ type }) => type === 'null')) found.push(`${path}/${name}`)
  }
  t.strictSame(found, [])
})

t.test('generators find no union or table that they have no code for', async (t) => {
  const found: string[] = []
  for (const [path, table] of tablesIn(JSON.parse(description))) {
    const {
      anyOf,
      oneOf = [],
      properties,
      additionalProperties: more,
      ...rest
    } = table as Described
    // The one of ogen ends at it.
    if (anyOf !== undefined) found.push(`${path}: any of its forms`)
    // That of orval does not compile; those of openapi-typescript refuse fields that are not of the type of all others.
    if (properties !== undefined && typeof more === 'object')
      found.push(`${path}: a type of others`)
    // So words say what clients may give.
    const isOpen = properties !== undefined && more === true
    if (isOpen && path.includes('/requestBody/') && rest.description === undefined)
      found.push(`${path}: others without a word`)
    // Those of openapi-generator in TypeScript import what is not there, and it makes none in Rust.
    const isPart = path.includes('/requestBody/') && path.includes('/properties/')
    const isUnnamed = isPart && oneOf.length > 0 && oneOf.every((form) => !form.$ref)
    if (isUnnamed || oneOf.some(({ type }) => type === 'object'))
      found.push(`${path}: forms without a name`)
  }
  t.strictSame(found, [])
})

interface Described {
  readonly description?: unknown
  readonly anyOf?: unknown
  readonly oneOf?: readonly { readonly $ref?: unknown; readonly type?: unknown }[]
  readonly uniqueItems?: unknown
  readonly items?: { readonly enum?: unknown }
  readonly additionalProperties?: unknown
  readonly properties?: Readonly<
    Record<string, { readonly oneOf?: readonly { readonly type?: unknown }[] }>
  >
}

t.test('Spectral and Redocly find nothing but what is accepted', async (t) => {
  const place = await workplace(t, nodeWith(judges))
  if (place === undefined) return
  await cp(join(judges, 'lint.mjs'), join(place, 'lint.mjs'))
  const linting = spawn(process.execPath, ['lint.mjs'], { cwd: place })
  linting.stdin.end(description)
  const found = (await saidBy(linting)).split('\n').filter((line) => line !== '')
  t.ok(found.length > 0, 'rules were applied')
  const isAccepted = (line: string) =>
    Object.keys(ACCEPTED).some((rule) => line.startsWith(`${rule} `))
  t.strictSame(
    found.filter((line) => !isAccepted(line)),
    [],
  )
})

t.test('a client whose types are generated compiles, and goes through it', async (t) => {
  const place = await workplace(t, nodeWith(judges))
  if (place === undefined) return
  await cp(join(judges, 'five-minutes.ts'), join(place, 'five-minutes.ts'))
  const generator = join(place, '../node_modules/openapi-typescript/bin/cli.js')
  await run(place, process.execPath, generator, 'openapi.json', '-o', 'api.d.ts')
  const types = join(import.meta.dirname, '../../node_modules/@types')
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
  const form = ['--module', 'nodenext', '--target', 'es2024', '--allowImportingTsExtensions']
  const known = ['--typeRoots', types, '--types', 'node', '--noEmit', 'five-minutes.ts']
  await run(place, process.execPath, tsc, ...strict, ...form, ...known)
  const phone = '+14155559190'
  const args = ['five-minutes.ts', service.url, phone, 'typed_bot']
  await fiveMinutes(t, spawn(process.execPath, args, { cwd: place }), phone, 'typed_bot')
})

t.test('a client that is generated in Python goes through it', async (t) => {
  const packages = join(judges, 'python')
  const place = await workplace(t, pythonWith(packages))
  if (place === undefined) return
  const python = join(place, '../bin/python')
  await run(place, python, '-m', 'openapi_spec_validator', 'openapi.json')
  const options = ['--path', 'openapi.json', '--output-path', 'api_client', '--meta', 'none']
  await run(place, python, '-m', 'openapi_python_client', 'generate', ...options)
  const phone = '+14155559180'
  const args = [join(packages, 'five_minutes.py'), service.url, phone, 'python_bot']
  const env = { ...process.env, PYTHONPATH: place, PYTHONDONTWRITEBYTECODE: '1' }
  const client = spawn(python, args, { cwd: place, env })
  await fiveMinutes(t, client, phone, 'python_bot')
})
