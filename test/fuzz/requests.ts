/** Requests for one operation: mostly as they should be, with something wrong in one place or another. */
import fc, { type Arbitrary } from '../support/fast-check.ts'
import { type Body, bodyOf, noBody } from './bodies.ts'
import type { Operation, Schema } from './operations.ts'
import { fitting, fittingObject, jsonOf, odd, oddText } from './values.ts'

export interface Known {
  readonly authorizations: readonly string[]
  readonly keys: readonly string[]
  /** Values that exist in the service, by the names of fields and parameters. */
  readonly likely: Readonly<Record<string, readonly unknown[]>>
  /** What must not come back in a refusal or in the log. */
  readonly secrets: readonly string[]
}

export interface Request {
  readonly operation: Operation
  readonly isHead: boolean
  /** It is as long as it says: whoever comes behind it on the connection begins where it ends. */
  readonly isFramed: boolean
  readonly bytes: Buffer
}

/** What these ask for is an answer that comes late. */
const waits = /^(timeout|wait_seconds)$/

const verbs = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'get',
  'FOO',
]

const segments = [
  ...['%00', '%zz', '%', '%ff', '%2e%2e%2f', '..', '%2F', '0', '-1', '1e400', '9007199254740993'],
  ...[
    '99999999999999999999',
    '1.5',
    'x'.repeat(400),
    '%F0%9F%91%8D',
    '%ED%A0%80',
    '77777%20',
    '*',
    ':',
  ],
  ...["'", '%0d%0aX: 1', '__proto__', 'constructor', 'null', '{id}', '999999'],
]

const oddHeaders: readonly (readonly [string, string])[] = [
  ['expect', '100-continue'],
  ['expect', 'the unexpected'],
  ['x-forwarded-for', '1.2.3.4, unknown'],
  ['x-forwarded-host', 'evil.example'],
  ['x-http-method-override', 'DELETE'],
  ['user-agent', '\x80\xff'.repeat(500)],
  ['user-agent', `bot\t${'x'.repeat(8_000)}`],
  ['accept', 'text/html;q=x'],
  ['range', 'bytes=-0,5-1,x'],
  ['if-none-match', '*"'],
  ['last-event-id', '-1'],
  ['origin', 'null'],
  ['cookie', '__proto__=1; a'],
  ['connection', 'close'],
  ['connection', 'upgrade'],
  ['upgrade', 'h2c'],
  ['transfer-encoding', 'gzip'],
  ['content-length', '5'],
  ['content-length', '-1'],
  ['host', 'two.example'],
  ['idempotency-key', 'x'.repeat(300)],
]

/** Headers that change where a request ends, or what becomes of its connection. */
const framing = /^(content-length|transfer-encoding|expect|connection|upgrade)$/

const often = <Value>(usual: Arbitrary<Value>, weight: number, rare: Arbitrary<Value>) =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare })

export function requestFor(operation: Operation, known: Known): Arbitrary<Request> {
  const isBot = operation.path.startsWith('/bot')
  const own = isBot ? fc.constantFrom('POST', 'POST', 'GET') : fc.constant(operation.method)
  const verb = often(own, 12, fc.constantFrom(...verbs))
  const body = operation.body ? bodyOf(valueFor(operation, known), isBot) : fc.constant(noBody)
  return fc
    .record({
      verb,
      authorization: often(
        fc.constant(known.authorizations[0]),
        6,
        fc.constantFrom(undefined, 'Bearer', 'apikey chp_pat_0', ...known.authorizations),
      ),
      query: queryFor(operation, known),
      body: often(body, 15, bodyOf(odd, isBot)),
      header: fc.option(fc.constantFrom(...oddHeaders), { freq: 8 }),
      isChunked: fc.integer({ max: 9 }).map((n) => n === 0),
    })
    .chain((parts) => {
      const { verb } = parts
      return pathFor(operation, known, verb === 'DELETE').map((path) => {
        const target = `${path}${parts.query && `?${parts.query}`}`
        const isFramed = !framing.test(parts.header?.[0] ?? '')
        // Who asks with all these requests must not be erased by one of them.
        const erases = /^delete$/i.test(verb) && /^\/user\W*$/.test(path)
        const authorization = erases ? 'Bearer' : parts.authorization
        const bytes = written({ ...parts, authorization, target })
        return { operation, isHead: verb === 'HEAD', isFramed, bytes }
      })
    })
}

/** Nothing that the other requests need is deleted: only what does not exist, or has no such form. */
function pathFor({ path }: Operation, known: Known, deletes: boolean): Arbitrary<string> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const values = names.map((name) => {
    const rare = fc.constantFrom(...segments)
    if (name === 'api_key')
      return often(fc.constant(known.keys[0] ?? ''), 8, fc.constantFrom(...known.keys, ...segments))
    const there = (known.likely[name] ?? []).map((value) => encodeURIComponent(String(value)))
    return deletes || there.length === 0 ? rare : often(fc.constantFrom(...there), 6, rare)
  })
  const end = fc.constantFrom(...Array(40).fill(''), '/', '%2f', '/..', '//', ';a=1', '%00', '\x80')
  return fc.tuple(fc.tuple(...values), end).map(([given, tail]) => {
    const left = [...given]
    return `${path.replace(/\{\w+\}/g, () => left.shift() ?? '')}${tail}`
  })
}

function queryFor(operation: Operation, known: Known): Arbitrary<string> {
  const declared = operation.path.startsWith('/bot')
    ? Object.entries(Object(operation.body?.properties)).map(([name, schema]) => ({
        name,
        schema: schema as Schema,
      }))
    : operation.parameters.filter((parameter) => parameter.in === 'query')
  const pairs = declared.map(({ name, schema = {} }) => {
    const fit = fitting(name, schema, known.likely)
    const value = waits.test(name) ? fit : often(fit, 2, odd)
    const pair = value.map((given) => {
      const text = typeof given === 'object' ? jsonOf(given) : String(given)
      return `${name}=${encodeURIComponent(text.slice(0, 2_000).toWellFormed())}`
    })
    return fc.option(pair, { nil: '' })
  })
  const extra = fc.constantFrom(
    ...Array(30).fill(''),
    ...[
      '__proto__=1',
      '__proto__[a]=1',
      'constructor.prototype=1',
      'a=%zz',
      '%ff=%ff',
      '&&==&',
      '\x80',
    ],
    ...[
      'a=1&'.repeat(100),
      'limit=1&'.repeat(100),
      'x'.repeat(9_000),
      'limit=1&limit=x',
      'limit[]=1',
    ],
  )
  return fc.tuple(...pairs, extra).map((given) => given.filter((pair) => pair !== '').join('&'))
}

/** An object of the operation's schema with up to two members gone wrong. */
function valueFor({ body = {} }: Operation, known: Known): Arbitrary<unknown> {
  const names = Object.keys(Object(body.properties))
  const planted = fc.constantFrom<unknown>(...known.secrets)
  const wrong = fc.tuple(
    fc.constantFrom(
      'unknown',
      '__proto__',
      '',
      ...known.secrets,
      ...names,
      ...names,
      ...names,
      ...names,
    ),
    fc.oneof(
      { weight: 8, arbitrary: odd },
      { weight: 1, arbitrary: planted },
      { weight: 1, arbitrary: oddText },
    ),
  )
  return fc
    .tuple(fittingObject(body, known.likely), fc.array(wrong, { maxLength: 2 }))
    .map(([value, wrongs]) => {
      const members = wrongs.filter(([name]) => !waits.test(name) && name !== '__proto__')
      return { ...value, ...Object.fromEntries(members) }
    })
}

interface Written {
  readonly verb: string
  readonly target: string
  readonly authorization: string | undefined
  readonly header: readonly [string, string] | null
  readonly body: Body
  readonly isChunked: boolean
}

function written({ verb, target, authorization, header, body, isChunked }: Written): Buffer {
  const { bytes } = body
  const framing = isChunked
    ? ['transfer-encoding', 'chunked']
    : ['content-length', `${bytes.length}`]
  const headers = [
    ['host', 'chapar.test'],
    ...(authorization === undefined ? [] : [['authorization', authorization]]),
    ...body.headers,
    ...(bytes.length > 0 ? [framing] : []),
    ...(header && (bytes.length > 0 || header[1] !== '5') ? [header] : []),
  ]
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = Buffer.from(`${verb} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1')
  if (bytes.length === 0 || !isChunked) return Buffer.concat([head, bytes])
  const size = Buffer.from(`${bytes.length.toString(16)};extension=1\r\n`)
  return Buffer.concat([head, size, bytes, Buffer.from('\r\n0\r\n\r\n')])
}
