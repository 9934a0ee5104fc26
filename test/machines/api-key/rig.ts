/** API keys to walk through their states, and what they can be told. */

import type {
  AdmitCall,
  ApiKeyEvent,
  Poll,
  PollRead,
  PollUpdates,
} from '../../../machines/api-key/events.ts'
import { apiKeyMachine } from '../../../machines/api-key/machine.ts'
import type { ApiKeyInput } from '../../../machines/api-key/setup.ts'
import { Walk } from '../walk.ts'

export const keyInput = (input: Partial<ApiKeyInput> = {}): ApiKeyInput => ({
  apiKeyId: 1,
  credentialId: 2,
  terms: { scopes: ['bot:send', 'bot:receive'], expiresAt: undefined },
  revoked: false,
  cursor: 100,
  filter: [],
  webhook: undefined,
  ...input,
})

export const begin = (input: Partial<ApiKeyInput> = {}): Walk<ApiKeyEvent> =>
  new Walk(apiKeyMachine, keyInput(input))

export const poll = (requestId: string, more: Partial<PollUpdates> = {}): PollUpdates => ({
  type: 'updates.poll',
  requestId,
  offset: 0,
  limit: 100,
  timeoutMs: 50_000,
  next: 101,
  now: 1_000_000,
  ...more,
})

export const admit = (requestId: string, more: Partial<AdmitCall> = {}): AdmitCall => ({
  type: 'call.admit',
  requestId,
  scope: undefined,
  now: 1_000_000,
  ...more,
})

/** What reading the log for this poll came to: nothing, unless told otherwise. */
export const page = (asked: Poll, count = 0, more: Partial<PollRead> = {}): PollRead => ({
  type: 'poll.read',
  poll: asked,
  json: JSON.stringify(Array.from({ length: count }, (_, index) => asked.after + 1 + index)),
  count,
  cursor: asked.after,
  head: asked.after + count,
  now: 1_000_000,
  ...more,
})

const asked = (walk: Walk<ApiKeyEvent>, what: string): Poll => {
  const effects = walk.effects.filter(({ type }) => type === what)
  if (effects.length !== 1) throw new Error(`${effects.length} times '${what}' instead of once`)
  return effects[0]?.params as Poll
}

/** What the last step asked to read. */
export const reading = (walk: Walk<ApiKeyEvent>): Poll => asked(walk, 'read')

/** What the last step asked to read as soon as something is there. */
export const listening = (walk: Walk<ApiKeyEvent>): Poll => asked(walk, 'listen')

/** A poll that found nothing and waits. */
export function held(requestId = 'p1', more: Partial<PollUpdates> = {}): Walk<ApiKeyEvent> {
  const walk = begin().send(poll(requestId, more))
  return walk.send(page(reading(walk), 0, { now: more.now ?? 1_000_000 }))
}

/** The next poll, and what it reads at once. */
export function next(walk: Walk<ApiKeyEvent>, asked: PollUpdates, count = 0): Walk<ApiKeyEvent> {
  walk.send(asked)
  return walk.send(page(reading(walk), count, { now: asked.now }))
}
