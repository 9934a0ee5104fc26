/** Refuses numbers beyond all bounds in a query. */
import type { FastifyRequest } from 'fastify'
import { failed } from '../../actors/errors.ts'

/** Ajv turns `1e400` into Infinity, takes that for an integer and skips `minimum` and `maximum`. */
export async function refuseInfinity({ query }: FastifyRequest): Promise<void> {
  for (const [field, value] of Object.entries(query as object)) {
    if (value === Infinity || value === -Infinity) {
      throw failed('bad_request', `field "${field}" must be an integer`)
    }
  }
}
