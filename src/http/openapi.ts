/** /openapi.json, generated from the routes' schemas, and /docs, a page to read and try it. */
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import * as account from '../records/account.ts'
import * as alert from '../records/alert.ts'
import * as apiKey from '../records/api-key.ts'
import * as audit from '../records/audit.ts'
import * as credential from '../records/credential.ts'
import * as link from '../records/link.ts'
import * as node from '../records/node.ts'
import * as usage from '../records/usage.ts'
import { Failed } from './envelope.ts'
import { takesEncoding } from './headers.ts'
import * as content from './sandbox/content-schemas.ts'
import * as keyboard from './sandbox/keyboard-schemas.ts'
import * as offer from './sandbox/offer-schemas.ts'
import * as profile from './sandbox/profile-schemas.ts'
import * as sandbox from './sandbox/schemas.ts'

interface OpenapiOptions {
  readonly version: string
  /** The service's addresses: the one for use at home first, the international one after it. */
  readonly addresses: readonly string[]
  /** Describes operations that have no route of their own: the methods of the bot API. */
  beyondRoutes(): Description
  /** Those of the panel, in the same order: its hosts serve the document too. */
  readonly panels?: readonly string[]
}

interface Description {
  readonly paths: Readonly<Record<string, object>>
  readonly schemas: Readonly<Record<string, object>>
}

/** All assets are files of this server. The page sets styles on its elements, and its icons are in the style sheet. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const description = `Messenger accounts served through a Telegram-compatible bot API.
Every answer is one envelope: \`ok\` with \`result\`, or \`error_code\` with \`description\`.`

const securitySchemes = {
  jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  pat: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: '`apikey ` and a personal access token',
  },
  operator: {
    type: 'http',
    scheme: 'bearer',
    description: '`METRICS_TOKEN` of the configuration; for orders `OPERATOR_TOKEN`',
  },
} as const

const tags = [
  { name: 'auth', description: 'Signing in and out' },
  { name: 'account', description: 'The signed-in user: sign-ins, tokens, usage and logs' },
  { name: 'platforms', description: 'Messengers that can be linked' },
  { name: 'linking', description: 'Linking an account step by step' },
  { name: 'credentials', description: 'Linked accounts' },
  { name: 'api keys', description: 'What bots call with, and their webhooks' },
  { name: 'alerts', description: 'Incidents, and where to tell of them' },
  { name: 'audit', description: 'Who changed what' },
  { name: 'staff', description: 'For those who run the service or support its users' },
  { name: 'machines', description: 'The state machines of the service' },
  { name: 'sandbox', description: 'People of the built-in messenger, and what they do' },
  { name: 'operations', description: 'Health, and the nodes of the service' },
  { name: 'bot api', description: 'The methods that bots call; their key stands in the path' },
]

const JSON_TYPE = 'application/json; charset=utf-8'
/** The page would write the document anew for each request. JSON is YAML, too. */
const pageTypes = new Map([
  ['/docs/json', JSON_TYPE],
  ['/docs/yaml', 'application/x-yaml; charset=utf-8'],
])

const config = { audit: false }

type Operation = Readonly<Record<string, unknown>> & { readonly requestBody?: object }
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

/** A route's schema as its callers see it: they may leave out what has a default, though the handler always has it. */
const askedOf = (schema: FastifySchema): FastifySchema => ({
  ...schema,
  ...('body' in schema && { body: withOptionalDefaults(schema.body) }),
  ...('querystring' in schema && { querystring: withOptionalDefaults(schema.querystring) }),
})

function withOptionalDefaults(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withOptionalDefaults)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [name, withOptionalDefaults(part)]),
  )
  const { properties, required } = copy
  if (!isTable(properties) || !Array.isArray(required)) return copy
  const isNeeded = (name: string) => {
    const property = properties[name]
    return !(isTable(property) && 'default' in property)
  }
  return { ...copy, required: required.filter(isNeeded) }
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A name of a route for programs, of its verb and its path: `postApiKeysByIdRotate`. */
const operationIdOf = (verb: string, path: string): string =>
  verb.toLowerCase() +
  path
    .split(/[/_.-]|(?=[{}])/)
    .map((word) => word.replace(/^{/, 'by_').replace(/^}/, ''))
    .flatMap((word) => word.split('_'))
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** What the generator does not know of a route. */
function completed(verb: string, path: string, operation: Operation): Operation {
  const { requestBody, responses } = operation
  return {
    operationId: operationIdOf(verb, path),
    security: [],
    ...operation,
    ...(requestBody && { requestBody: { ...requestBody, required: !takesNull(requestBody) } }),
    responses: Object.fromEntries(
      Object.entries(responses as Readonly<Record<string, { description: string }>>).map(
        ([status, response]) => [status, { ...response, description: saidOf(status, response) }],
      ),
    ),
  }
}

const saidOf = (status: string, { description }: { readonly description: string }): string => {
  if (description !== 'Default Response') return description
  return status === 'default' ? 'It failed' : 'The result'
}

/** A body that may be null may be left out. */
const takesNull = (body: object): boolean => {
  const { content } = body as { readonly content?: Paths[string] }
  const { schema } = (content?.['application/json'] ?? {}) as { schema?: { type?: unknown } }
  return Array.isArray(schema?.type) && schema.type.includes('null')
}

const completePaths = (paths: Paths): Paths =>
  Object.fromEntries(
    Object.entries(paths).map(([path, verbs]) => [
      path,
      Object.fromEntries(
        Object.entries(verbs).map(([verb, operation]) => [verb, completed(verb, path, operation)]),
      ),
    ]),
  )

/** Schemas that the document names, so that the types of generated clients have names too. */
function namedSchemas(): Map<string, string> {
  const own = [{ Failed }, account, alert, apiKey, audit, credential, link, node, usage]
  const named = new Map<string, string>()
  const add = (schemas: object, prefix: string) => {
    for (const [name, schema] of Object.entries(schemas)) {
      if (isTable(schema) && isTable(schema.properties))
        named.set(printed(schema), `${prefix}${name}`)
    }
  }
  for (const schemas of [sandbox, content, keyboard, offer, profile]) add(schemas, 'Sandbox')
  for (const schemas of own) add(schemas, '')
  return named
}

/** The same text for the same schema. The generator writes constants as enumerations, and tables of any names as its own. */
const printed = (schema: unknown): string =>
  JSON.stringify(schema, (name, value) => {
    if (!isTable(value) || name === 'properties') return value
    const { const: constant, patternProperties: table, ...rest } = value
    const all = {
      ...rest,
      ...('const' in value && { enum: [constant] }),
      ...(isTable(table) && { additionalProperties: Object.values(table)[0] }),
    }
    return Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)))
  })

/** Texts to choose from, where a union is of nothing else. */
function choiceIn(union: unknown): { readonly type: string; readonly enum: unknown[] } | undefined {
  if (!Array.isArray(union)) return undefined
  const isText = (one: unknown) =>
    isTable(one) &&
    one.type === 'string' &&
    Array.isArray(one.enum) &&
    Object.keys(one).length === 2
  return union.every(isText)
    ? { type: 'string', enum: union.flatMap((one) => one.enum) }
    : undefined
}

/** The form of a union that has nothing but null beside it, and says so by its type alone. */
function nullableIn(union: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isDistinct(union) || union.length !== 2) return undefined
  const [form, other] = union
  if (!isTable(form) || !isTable(other) || other.type !== 'null') return undefined
  return 'enum' in form || 'const' in form ? undefined : form
}

/** Whether each form of a union has a type of its own: generators know what to do with exactly one of them, not with any. */
function isDistinct(union: unknown): union is readonly unknown[] {
  if (!Array.isArray(union)) return false
  const types = union.map((one) => (isTable(one) ? one.type : undefined))
  return types.every((type) => typeof type === 'string') && new Set(types).size === types.length
}

/**
 * What generators need to be told: without a format they take whole numbers for 32 bits, choices without a type for
 * anything. For a choice of truth values some make code that does not compile, or reads no answer.
 */
function typed(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { type, enum: choices, ...rest } = schema
  if (Array.isArray(choices)) {
    const one = typeOf(choices)
    return one === 'boolean' ? { ...rest, type: one } : { type: one, ...schema }
  }
  const isWhole = type === 'integer' || (Array.isArray(type) && type.includes('integer'))
  const { minimum = -Infinity, maximum = Infinity }: Bounds = schema
  const isSmall = minimum >= -(2 ** 31) && maximum < 2 ** 31
  return isWhole && !isSmall ? { format: 'int64', ...schema } : schema
}

interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
}

/** The one type of all of them; undefined where there are several. */
function typeOf(choices: readonly unknown[]): string | undefined {
  const types = new Set(choices.map((one) => (Number.isInteger(one) ? 'integer' : typeof one)))
  return types.size === 1 ? [...types][0] : undefined
}

/** Replaces what has a name by a reference to it, and gathers what was named. */
class SchemaNaming {
  readonly #names = namedSchemas()
  readonly schemas: Record<string, unknown> = {}

  replace(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.replace(item))
    if (!isTable(value)) return value
    const { type, description, ...rest } = value
    // Generators know a type, or null beside it, but no list of types.
    if (Array.isArray(type) && type.filter((one) => one !== 'null').length > 1) {
      const oneOf = type.map((one) => ({ type: one }))
      return { ...rest, ...(description !== undefined && { description }), oneOf }
    }
    const { title, ...untitled } = value
    if (typeof title === 'string') return this.#named(title, untitled)
    const { anyOf, ...others } = value
    const form = nullableIn(anyOf)
    if (form) return this.replace({ ...others, ...form, type: [form.type, 'null'] })
    if (isDistinct(anyOf)) return this.replace({ ...others, oneOf: anyOf })
    const choice = choiceIn(anyOf)
    if (choice) return this.#inside({ ...value, ...choice, anyOf: undefined })
    if (!isTable(value.properties)) return this.#inside(value)
    const isNullable = Array.isArray(type) && type.length === 2 && type[1] === 'null'
    const bare = { ...rest, type: isNullable ? type[0] : type }
    const name = this.#names.get(printed(value)) ?? this.#names.get(printed(bare))
    // Some generators find null beside a reference only in tables that are open; those of bodies are not, nor are their parts.
    const isPart = isNullable && rest.additionalProperties === false
    if (name === undefined || isPart) return this.#inside(value)
    this.schemas[name] ??= this.#inside({ ...bare, ...(!isNullable && { description }) })
    const reference = { $ref: `#/components/schemas/${name}` }
    return isNullable ? { oneOf: [reference, { type: 'null' }] } : reference
  }

  /** Some generators make code that does not compile where a set of words, or a form of a union, has no name. */
  #named(name: string, schema: Readonly<Record<string, unknown>>): object {
    this.schemas[name] ??= this.replace(schema)
    return { $ref: `#/components/schemas/${name}` }
  }

  #inside(table: Readonly<Record<string, unknown>>): Record<string, unknown> {
    // In TypeScript, fields with a name have to fit the type of all others: clients could not give them.
    const isMixed = isTable(table.properties) && isTable(table.additionalProperties)
    const all = typed(isMixed ? { ...table, additionalProperties: true } : table)
    return Object.fromEntries(Object.entries(all).map(([name, part]) => [name, this.replace(part)]))
  }
}

interface Generated {
  readonly paths?: Paths
  readonly components?: object
}

/** Those that an operation needs: without tokens in the configuration there are no routes for them. */
function usedSchemes(paths: Paths): object {
  const needed = Object.values(paths)
    .flatMap((verbs) => Object.values(verbs))
    .flatMap(({ security }) => security as readonly object[])
    .flatMap((one) => Object.keys(one))
  return Object.fromEntries(
    Object.entries(securitySchemes).filter(([name]) => needed.includes(name)),
  )
}

function documentOf(generated: object, servers: readonly string[], more: Description): object {
  const own: Generated = generated
  const naming = new SchemaNaming()
  const complete = completePaths(own.paths ?? {})
  const paths = naming.replace({ ...complete, ...more.paths })
  return {
    ...own,
    servers: [...new Set(servers)].map((url) => ({ url })),
    paths,
    components: {
      ...own.components,
      securitySchemes: usedSchemes(complete),
      schemas: { ...naming.schemas, ...more.schemas },
    },
  }
}

const [compress, decompress] = [promisify(gzip), promisify(gunzip)]

/** Compressed: the text is twenty times as long, and most who ask take it so. */
async function sendDocument(request: FastifyRequest, reply: FastifyReply, document: Buffer) {
  reply.header('vary', 'accept-encoding')
  if (!takesEncoding(request.headers['accept-encoding'], 'gzip')) {
    return reply.send(await decompress(document))
  }
  return reply.header('content-encoding', 'gzip').send(document)
}

/** Call it before any route is registered: those registered earlier are missing in the document. */
export async function describeRoutes(
  app: FastifyInstance,
  { version, addresses, panels = [], beyondRoutes }: OpenapiOptions,
): Promise<void> {
  /** By the order of the servers. None is made before somebody asks. */
  const documents = new Map<string, Promise<Buffer>>()

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Chapar',
        version,
        description,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags,
      components: { securitySchemes },
    },
    transform: ({ schema, url }) => ({ schema: askedOf(schema), url }),
  })

  /** The address that was asked comes first, so that the page tries it and not another origin. */
  function documentFor(host: string): Promise<Buffer> {
    const isAsked = (url: string) => new URL(url).host === host
    const ofPanel = addresses[panels.findIndex(isAsked)]
    const asked = addresses.find(isAsked) ?? ofPanel ?? addresses[0]
    const servers = [...addresses].sort((a, b) => Number(b === asked) - Number(a === asked))
    const make = () => compress(JSON.stringify(documentOf(app.swagger(), servers, beyondRoutes())))
    const document = documents.get(servers.join()) ?? make()
    documents.set(servers.join(), document)
    return document
  }

  const answer = async (request: FastifyRequest, reply: FastifyReply) =>
    sendDocument(request, reply, await documentFor(request.host))

  app.get('/openapi.json', { config, schema: { hide: true } }, (request, reply) =>
    answer(request, reply.type(JSON_TYPE)),
  )

  await app.register(async (page) => {
    page.addHook('onRoute', (route) => {
      route.config = { ...route.config, ...config }
      const type = pageTypes.get(route.url)
      if (type) route.handler = (request, reply) => answer(request, reply.type(type))
    })
    await page.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: pagePolicy,
      theme: { title: 'Chapar API' },
      // The hints of the panel lead to chapters: /docs#/linking.
      uiConfig: { deepLinking: true },
    })
  })
}
