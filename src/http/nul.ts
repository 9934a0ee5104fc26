/** Refuses U+0000 in bodies: the database stores no such text, and one of them would fail a whole batch. */
import type { FastifyRequest } from 'fastify'
import { invalidField } from './failure.ts'

export async function refuseNul({ body }: FastifyRequest): Promise<void> {
  // Bot calls carry lists of parameters, which they judge by themselves.
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return
  const path = pathToNul(body)
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
