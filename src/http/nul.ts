/** Refuses U+0000: the database stores no such text, and one of them would fail a whole batch. */
import type { FastifyRequest } from 'fastify'
import { failed } from '../../actors/errors.ts'
import { invalidField } from './failure.ts'

export async function refuseNul({ routeOptions, params, query, body }: FastifyRequest) {
  // Bot calls judge their parameters by themselves, once the key is known.
  if (routeOptions.url?.startsWith('/bot')) return
  // Nothing is called so.
  if (pathToNul(params)) throw failed('not_found')
  const path = pathToNul(query) ?? pathToNul(body)
  if (path) throw invalidField(path.join('.'), 'must not contain the character U+0000')
}

function pathToNul(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.includes('\u0000') ? [] : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const path = pathToNul(member)
    if (path) return [name, ...path]
  }
  return undefined
}
