/** Refuses whole numbers that lost digits on the way here, or that no column of the database holds. */
import type { FastifyRequest } from 'fastify'
import { invalidField } from './failure.ts'

/** Ajv turns `1e400` into Infinity, takes that for an integer and skips `minimum` and `maximum`. */
export async function refuseHugeNumbers({ params, query, body }: FastifyRequest): Promise<void> {
  const path = pathToHuge(params) ?? pathToHuge(query) ?? pathToHuge(body)
  if (path) throw invalidField(path.join('.'), 'must be an integer of at most 53 bits')
}

function pathToHuge(value: unknown): string[] | undefined {
  if (typeof value === 'number') return isHuge(value) ? [] : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const path = pathToHuge(member)
    if (path) return [name, ...path]
  }
  return undefined
}

const isHuge = (value: number) =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))
