/** What an API key answers when it does not let a call through. */
import type { Scope } from './api-key-events.ts'
import { type Command, type Failure, type Reply, refused } from './protocol.ts'

export const unauthorized: Failure = { code: 'unauthorized', description: '' }

export const otherPoll: Failure = {
  code: 'conflict',
  description:
    'terminated by other getUpdates request; make sure that only one bot instance is running',
}

export const lacks = (scope: Scope | undefined): Failure => ({
  code: 'forbidden',
  description: `the key lacks the scope ${scope}`,
})

const toUnauthorized = {
  actions: {
    type: 'reply' as const,
    params: ({ event }: { event: Command }): Reply => refused(event, unauthorized),
  },
}

/** What a key that is not usable does with every call. */
export const turnAway = {
  'call.admit': toUnauthorized,
  'updates.poll': toUnauthorized,
  'updates.drop': toUnauthorized,
}
