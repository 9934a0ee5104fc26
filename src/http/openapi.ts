/** /openapi.json, generated from the routes' schemas, and /docs, a page to read and try it. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifySchema } from 'fastify'

interface OpenapiOptions {
  readonly version: string
  /** The service's addresses: the one for use at home first, the international one after it. */
  readonly addresses: readonly string[]
}

type Paths = Readonly<Record<string, object>>

interface Openapi {
  /** Adds operations that have no route of their own, such as the methods of the bot API. */
  extraPaths(paths: Paths): void
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
} as const

const config = { audit: false }

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

/** Call it before any route is registered: those registered earlier are missing in the document. */
export async function describeRoutes(
  app: FastifyInstance,
  { version, addresses }: OpenapiOptions,
): Promise<Openapi> {
  const extra: Record<string, object> = {}
  /** Cached documents by the order of the servers: they are large and do not change. */
  const documents = new Map<string, object>()

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Chapar', version, description },
      components: { securitySchemes },
    },
    transform: ({ schema, url }) => ({ schema: askedOf(schema), url }),
  })

  /** The address that was asked comes first, so that the page tries it and not another origin. */
  function documentFor(host: string): object {
    const asked = addresses.find((address) => new URL(address).host === host) ?? addresses[0]
    const servers = [...addresses].sort((a, b) => Number(b === asked) - Number(a === asked))
    const known = documents.get(servers.join())
    if (known) return known
    const own: { readonly paths?: object } = app.swagger()
    const document = {
      ...own,
      servers: [...new Set(servers)].map((url) => ({ url })),
      paths: { ...own.paths, ...extra },
    }
    documents.set(servers.join(), document)
    return document
  }

  app.get('/openapi.json', { config, schema: { hide: true } }, async (request) =>
    documentFor(request.host),
  )

  await app.register(async (page) => {
    page.addHook('onRoute', (route) => {
      route.config = { ...route.config, ...config }
    })
    await page.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: pagePolicy,
      theme: { title: 'Chapar API' },
      // The hints of the panel lead to chapters: /docs#/linking.
      uiConfig: { deepLinking: true },
      transformSpecification: (_own, request) => documentFor(request.host),
      transformSpecificationClone: false,
    })
  })

  return {
    extraPaths(paths) {
      Object.assign(extra, paths)
      documents.clear()
    },
  }
}
