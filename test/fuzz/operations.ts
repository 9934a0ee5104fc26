/** What can be asked of the service: every operation of its own description, and every method name of the bot API. */
import { METHOD_NAMES } from '../../src/bot-api/reference.ts'

export type Schema = Readonly<Record<string, unknown>>

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema?: Schema
}

export interface Operation {
  readonly method: string
  /** As documented: `/api_keys/{id}`. */
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: Schema | undefined
  /** How often it is asked for, beside the others. */
  readonly weight: number
}

interface Described {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema?: Schema }>>
  }
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components?: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Not in the description, since nobody calls them by program. */
const pages = ['/openapi.json', '/docs', '/docs/json', '/docs/static/{asset}', '/metrics', '/']

export function operationsOf({ paths, components }: Description): Operation[] {
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      parameters,
      body: named(Object.values(requestBody?.content ?? {})[0]?.schema, components?.schemas ?? {}),
      weight: 6,
    })),
  )
  const known = new Set(described.map(({ path }) => path))
  const names = METHOD_NAMES.map((name) => `/bot{api_key}/${name}`)
  const others = [...names, ...pages].filter((path) => !known.has(path))
  const bare = others.map((path) => ({
    method: path.startsWith('/bot') ? 'POST' : 'GET',
    path,
    parameters: [],
    body: path.startsWith('/bot') ? {} : undefined,
    weight: 1,
  }))
  return [...described, ...bare]
}

/** The schema that one stands for which is nothing but a name. */
const named = (schema: Schema | undefined, schemas: Readonly<Record<string, Schema>>) =>
  schemas[`${schema?.$ref}`.split('/').at(-1) ?? ''] ?? schema
