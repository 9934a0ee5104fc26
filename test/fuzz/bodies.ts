/** Bodies in every encoding, whole and broken. */
import { deflateSync, gzipSync } from 'node:zlib'
import fc, { type Arbitrary } from '../support/fast-check.ts'
import { jsonOf } from './values.ts'

export interface Body {
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly bytes: Buffer
}

export const noBody: Body = { headers: [], bytes: Buffer.alloc(0) }

const BOUNDARY = 'boundary-of-parts'
const bomb = gzipSync(Buffer.alloc(20_000_000))

const typed = (type: string, bytes: string | Buffer): Body => ({
  headers: [['content-type', type]],
  bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes,
})

const textOf = (value: unknown) => (typeof value === 'string' ? value : jsonOf(value))
const escaped = (text: string) => encodeURIComponent(text.toWellFormed())

const json = (value: unknown) => typed('application/json', jsonOf(value))

function form(value: unknown): Body {
  const pairs = Object.entries(Object(value)).map(([name, member]) => {
    return `${escaped(name)}=${escaped(textOf(member))}`
  })
  return typed('application/x-www-form-urlencoded', pairs.join('&'))
}

function multipart(value: unknown): Body {
  const parts = Object.entries(Object(value)).map(([name, member], n) => {
    const isFile =
      /photo|document|video|audio|voice|sticker|animation|file/.test(name) && n % 2 === 0
    const file = isFile ? '; filename="a.png"\r\ncontent-type: image/png' : ''
    const head = `content-disposition: form-data; name=${JSON.stringify(name)}${file}`
    return `--${BOUNDARY}\r\n${head}\r\n\r\n${textOf(member)}\r\n`
  })
  return typed(`multipart/form-data; boundary=${BOUNDARY}`, `${parts.join('')}--${BOUNDARY}--\r\n`)
}

/** What is done to bytes that were fine. */
const harms: readonly ((body: Body) => Body)[] = [
  ({ headers, bytes }) => ({ headers, bytes: bytes.subarray(0, bytes.length >> 1) }),
  ({ headers, bytes }) => ({ headers, bytes: Buffer.concat([bytes, bytes]) }),
  ({ headers, bytes }) => ({ headers, bytes: Buffer.concat([Buffer.from('\ufeff'), bytes]) }),
  ({ headers, bytes }) => ({ headers, bytes: Buffer.concat([bytes, Buffer.from([0])]) }),
  ({ headers, bytes }) => {
    const broken = Buffer.from(bytes)
    if (broken.length > 2) broken[broken.length >> 1] = 0xff
    return { headers, bytes: broken }
  },
  ({ headers, bytes }) => ({
    headers,
    // The same members again: a JSON object with every key twice.
    bytes: Buffer.from(bytes.toString().replace(/^\{(.+)\}$/s, '{$1,$1}')),
  }),
  ({ bytes }) => ({ headers: [['content-type', 'multipart/form-data']], bytes }),
  ({ bytes }) => ({
    headers: [['content-type', `multipart/form-data; boundary=${'b'.repeat(80)}`]],
    bytes,
  }),
  ({ bytes }) => ({ headers: [['content-type', 'text/plain']], bytes }),
  ({ bytes }) => ({ headers: [['content-type', 'application/json; charset=utf-16']], bytes }),
  ({ bytes }) => ({ headers: [['content-type', '\x80;;=,']], bytes }),
  ({ bytes }) => ({ headers: [], bytes }),
  ({ headers, bytes }) => ({ headers: [...headers, ['content-encoding', 'gzip']], bytes }),
  ({ headers, bytes }) => ({ headers: [...headers, ['content-encoding', 'br, gzip']], bytes }),
  ({ headers }) => ({ headers: [...headers, ['content-encoding', 'gzip']], bytes: bomb }),
  ({ headers, bytes }) => ({
    headers: [...headers, ['content-encoding', 'gzip']],
    bytes: gzipSync(bytes).subarray(0, -6),
  }),
]

const packings: readonly ((body: Body) => Body)[] = [
  ({ headers, bytes }) => ({
    headers: [...headers, ['content-encoding', 'gzip']],
    bytes: gzipSync(bytes),
  }),
  ({ headers, bytes }) => ({
    headers: [...headers, ['content-encoding', 'deflate']],
    bytes: deflateSync(bytes),
  }),
]

const parts = (count: number) =>
  typed(
    `multipart/form-data; boundary=${BOUNDARY}`,
    `${Array(count).fill(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n`).join('')}--${BOUNDARY}--\r\n`,
  )

const whole: readonly Body[] = [
  parts(1_100),
  typed('application/json', '"text"'),
  typed('application/json', '[]'),
  typed('application/json', ' '),
  typed('application/json', 'x'.repeat(300_000)),
  typed('application/json', `{"text":"${'x'.repeat(1_100_000)}"}`),
  typed('application/x-www-form-urlencoded', 'a=1&'.repeat(5_000)),
  typed('application/x-www-form-urlencoded', '%zz=%ff&__proto__=1&a[b]=2&=&&'),
  typed(`multipart/form-data; boundary=${BOUNDARY}`, `--${BOUNDARY}\r\n\r\n\r\n--${BOUNDARY}--`),
  typed(`multipart/form-data; boundary=${BOUNDARY}`, `--${BOUNDARY}--\r\n`),
]

/** `isBot` bodies come in every encoding, others in the one the management API reads. */
export function bodyOf(value: Arbitrary<unknown>, isBot: boolean): Arbitrary<Body> {
  const encode = isBot
    ? fc.constantFrom(json, json, form, multipart)
    : fc.constantFrom(json, json, json, json, json, json, form, multipart)
  const encoded = fc.tuple(value, encode).map(([given, as]) => as(given))
  const harmed = fc.tuple(encoded, fc.constantFrom(...harms)).map(([body, harm]) => harm(body))
  const packed = fc.tuple(encoded, fc.constantFrom(...packings)).map(([body, pack]) => pack(body))
  return fc.oneof(
    { weight: 20, arbitrary: encoded },
    { weight: 5, arbitrary: harmed },
    { weight: isBot ? 2 : 1, arbitrary: packed },
    { weight: 1, arbitrary: fc.constantFrom(...whole) },
  )
}
