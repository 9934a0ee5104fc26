/** getUpdates: receiving by long polling. */
import { kindsOf } from '../allowed-updates.ts'
import type { Method } from '../method.ts'

const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 }

const getUpdates: Method = {
  name: 'getUpdates',
  summary: 'Receives updates by long polling',
  scope: 'bot:receive',
  operation: undefined,
  admitsItself: true,
  unlimited: true,
  parameters: { offset: 'integer', limit: 'integer', timeout: 'integer', allowed_updates: 'json' },
  required: [],
  // Not async: while it waits, nothing of the call is kept.
  run: ({ args, key, leaving }) => {
    const kinds = kindsOf(args)
    const request = {
      offset: args.integer('offset', INT32),
      limit: args.has('limit') ? args.integer('limit', { min: 1, max: 100 }) : 100,
      timeoutMs: 1000 * args.integer('timeout', { min: 0, max: 50 }),
      ...(kinds !== undefined && { kinds }),
    }
    return key.poll(request, leaving())
  },
}

export const updateMethods = [getUpdates]
