/** Refuses text that the database does not store: U+0000, and halves of characters. One of them would fail a whole batch. */
import type { FastifyRequest } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import { invalidField } from './failure.ts'

const reasons = {
  nul: 'must not contain the character U+0000',
  half: 'must not contain half of a character (a lone surrogate)',
} as const

interface Unstorable {
  readonly path: readonly string[]
  readonly reason: keyof typeof reasons
}

export async function refuseNul({ routeOptions, params, query, body }: FastifyRequest) {
  // Bot calls judge their parameters by themselves, once the key is known.
  if (routeOptions.url?.startsWith('/bot')) return
  // Nothing is called so.
  if (unstorableIn(params)) throw failed('not_found')
  const found = unstorableIn(query) ?? unstorableIn(body)
  if (found) throw invalidField(found.path.join('.'), reasons[found.reason])
}

function unstorableIn(value: unknown): Unstorable | undefined {
  if (typeof value === 'string') return judged(value)
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const found = judged(name) ?? unstorableIn(member)
    if (found) return { ...found, path: [name.toWellFormed(), ...found.path] }
  }
  return undefined
}

function judged(text: string): Unstorable | undefined {
  if (text.includes('\u0000')) return { path: [], reason: 'nul' }
  return text.isWellFormed() ? undefined : { path: [], reason: 'half' }
}
