/** What an API server of Kubernetes accepts, by the schemas that a module of its clients ships. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { goModule } from './go-module.ts'

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly [field: string]: unknown
}

interface Definition {
  readonly properties?: Record<string, unknown>
  readonly format?: string
  readonly [word: string]: unknown
}

interface Kubernetes {
  /** What is wrong with a manifest, in words; empty if nothing is. */
  check(manifest: Manifest): string
  /** Why the schemas cannot be had here. */
  readonly missing?: string
}

/** A field that is not known is a mistake here; an API server would only drop it. */
export async function kubernetes(): Promise<Kubernetes> {
  const { folder, missing } = await goModule('k8s.io/cli-runtime@v0.34.1')
  if (missing !== undefined) return { check: () => missing, missing }
  const text = readFileSync(join(folder, 'artifacts/openapi/swagger.json'), 'utf8')
  const { definitions } = JSON.parse(text) as { definitions: Record<string, Definition> }
  const kinds = new Map<string, string>()
  for (const [name, definition] of Object.entries(definitions)) {
    const known = definition['x-kubernetes-group-version-kind'] ?? []
    for (const { group, version, kind } of known as Record<string, string>[]) {
      kinds.set(`${group ? `${group}/` : ''}${version} ${kind}`, name)
    }
  }
  const strict = Object.entries(definitions).map(([name, definition]) => [
    name,
    strictly(definition),
  ])
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'kubernetes', definitions: Object.fromEntries(strict) })
  return {
    check({ apiVersion, kind, ...rest }) {
      const name = kinds.get(`${apiVersion} ${kind}`)
      if (name === undefined) return `there is no ${apiVersion} ${kind}`
      const validate = ajv.getSchema(`kubernetes#/definitions/${name}`)
      if (!validate) throw new Error(`the schema of ${name} cannot be read`)
      return validate({ apiVersion, kind, ...rest }) ? '' : ajv.errorsText(validate.errors)
    },
  }
}

function strictly(definition: Definition): object {
  if (definition.format === 'int-or-string') return { type: ['integer', 'string'] }
  return definition.properties ? { ...definition, additionalProperties: false } : definition
}
