/** Ids in paths are whole numbers: described as such on every route, and anything else is refused by the field's name. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { raw } from './scene.ts'

/** Parameters that are texts, most of them by the owner's specification. */
const TEXTS =
  /^(platform|session_id|token|name|request_id|diagnosis_id|audio|boost|gift|file|fault|api_key|file_path)$/

/** No whole numbers, or none that an id can be; `0x1` and the like are other words for one that is there. */
const MALFORMED = [
  'x',
  '1.5',
  '0x1',
  '1e0',
  '01',
  '%201',
  '+1',
  '1,2',
  'null',
  'true',
  '%D9%A1',
  '1'.repeat(20),
]

const OPERATOR_TOKEN = 'orders-nodes-here'
const OPERATOR = '+14155557101'
const service = await startService(t, {
  env: { OPERATOR_PHONES: OPERATOR, OPERATOR_TOKEN, USER_CALLS_PER_MINUTE: '100000' },
})
const operator = await service.client(OPERATOR)

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: object
}

type Paths = Record<string, Record<string, { readonly parameters?: readonly Parameter[] }>>

const { paths }: { paths: Paths } = (await raw(service.url, '/openapi.json')).body
const places = Object.entries(paths).flatMap(([pattern, verbs]) =>
  Object.entries(verbs).flatMap(([verb, { parameters = [] }]) =>
    parameters
      .filter((one) => one.in === 'path' && !TEXTS.test(one.name))
      .map(({ name, schema }) => ({ method: verb.toUpperCase(), pattern, name, schema })),
  ),
)
const isAboveZero = ({ name }: (typeof places)[number]) => name !== 'chat'

function ask({ method, pattern, name }: (typeof places)[number], value: string) {
  const path = pattern.replace(/\{(\w+)\}/g, (_, one) =>
    one === name ? value : one === 'fault' ? 'drop' : '1',
  )
  const token = pattern.startsWith('/nodes') ? OPERATOR_TOKEN : operator.token
  return raw(service.url, path, { method, headers: { authorization: `Bearer ${token}` } })
}

const refusal = (name: string, reason: string) => {
  const description = `Bad Request: field "${name}" ${reason}`
  const body = { ok: false, error_code: 400, description, errors: [{ field: name, reason }] }
  return { status: 400, body }
}

t.test('they are described as whole numbers of 64 bits', async (t) => {
  t.ok(places.length > 190, `${places.length} places`)
  for (const name of ['credential_id', 'id', 'share_id', 'incarnation', 'person'])
    t.ok(
      places.some((place) => place.name === name),
      name,
    )
  for (const { method, pattern, name, schema } of places)
    t.match(
      schema,
      { type: 'integer', format: 'int64', maximum: Number.MAX_SAFE_INTEGER },
      `${method} ${pattern} ${name}`,
    )
})

t.test('what is no whole number is refused by the name of its field', async (t) => {
  for (const [n, place] of places.entries()) {
    const value = MALFORMED[n % MALFORMED.length]!
    const isLong = value.length === 20
    const reason = isLong ? `must be at most ${Number.MAX_SAFE_INTEGER}` : 'must be an integer'
    const said = `${place.method} ${place.pattern} with ${place.name}=${value}`
    t.match(await ask(place, value), refusal(place.name, reason), said)
  }
})

t.test('every form of refusal is the same on one route', async (t) => {
  const place = places.find(({ pattern }) => pattern === '/platforms/credentials/{credential_id}')!
  for (const value of MALFORMED.slice(0, -1))
    t.match(await ask(place, value), refusal('credential_id', 'must be an integer'), value)
  for (const value of ['0', '-1', '-0'])
    t.match(await ask(place, value), refusal('credential_id', 'must be at least 1'), value)
})

t.test('the smallest and the largest id are ids, of which nobody has the largest', async (t) => {
  for (const place of places.filter(isAboveZero)) {
    const said = `${place.method} ${place.pattern} ${place.name}`
    t.match(await ask(place, '0'), refusal(place.name, 'must be at least 1'), said)
    const { status, text } = await ask(place, `${Number.MAX_SAFE_INTEGER}`)
    t.ok(status !== undefined && status < 500, `${said}: ${status} ${text}`)
    t.notMatch(text, new RegExp(`field \\\\"${place.name}\\\\"`), said)
  }
})
