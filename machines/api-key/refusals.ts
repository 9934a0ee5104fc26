/** The replies of an API key that refuses a call. */

import { accepted, type Command, type Failure, type Reply, refused } from '../model/protocol.ts'
import type { ApiKeyEvent, Poll, PollRead, Scope } from './events.ts'

export const unauthorized: Failure = { code: 'unauthorized', description: '' }

/** Why a key that opens nothing refuses a call. Nobody learns of a suspension by a key that has ended. */
export const refusalIn = ({
  suspension,
  revoked,
}: {
  readonly suspension?: Failure | undefined
  readonly revoked: boolean
}): Failure => (revoked ? unauthorized : (suspension ?? unauthorized))

type Refusing = Parameters<typeof refusalIn>[0]

export const otherPoll: Failure = {
  code: 'conflict',
  description:
    'terminated by other getUpdates request; make sure that only one bot instance is running',
  reason: 'other_poll',
}

export const setMeanwhile: Failure = {
  code: 'conflict',
  description: 'terminated by setWebhook request',
  reason: 'webhook_changed',
}

export const webhookActive: Failure = {
  code: 'conflict',
  description:
    "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
  reason: 'webhook_active',
}

export const otherChange: Failure = {
  code: 'conflict',
  description: 'terminated by other setWebhook',
}

export const lacks = (scope: Scope | undefined): Failure => ({
  code: 'forbidden',
  description: `the key lacks the scope ${scope}`,
  reason: 'missing_scope',
  params: { scope: `${scope}` },
})

/** The command is carried out. */
export const toAccepted = {
  type: 'reply' as const,
  params: ({ event }: { event: Command }): Reply => accepted(event),
}

const toUnauthorized = {
  actions: {
    type: 'reply' as const,
    params: ({ context, event }: { context: Refusing; event: Command }): Reply =>
      refused(event, refusalIn(context)),
  },
}

/** The key ended while its webhook was being changed. */
const turnChangeAway = [
  {
    type: 'reply' as const,
    params: ({ context }: { context: { changing: Command | undefined } }): Reply =>
      refused(context.changing ?? { requestId: '' }, unauthorized),
  },
  'endChange' as const,
]

type ConflictDue = Extract<ApiKeyEvent, { type: 'conflict.due' }>
type PollFailed = Extract<ApiKeyEvent, { type: 'poll.failed' }>

export const isFirstRead = {
  type: 'isFirstRead' as const,
  params: ({ event }: { event: { poll: Poll } }): Poll => event.poll,
}

/** How a key that is not usable refuses every call, and the rest of earlier ones. */
export const turnAway = {
  'call.admit': toUnauthorized,
  'updates.poll': toUnauthorized,
  'updates.drop': toUnauthorized,
  'updates.allow': toUnauthorized,
  'webhook.change': toUnauthorized,
  'poll.read': {
    guard: isFirstRead,
    actions: {
      type: 'reply' as const,
      params: ({ context, event }: { context: Refusing; event: { poll: Poll } }): Reply =>
        refused(event.poll, refusalIn(context)),
    },
  },
  'poll.failed': {
    guard: isFirstRead,
    actions: {
      type: 'reply' as const,
      params: ({ event }: { event: PollFailed }): Reply => refused(event.poll, event.failure),
    },
  },
  'conflict.due': {
    actions: {
      type: 'reply' as const,
      params: ({ event }: { event: ConflictDue }): Reply => refused(event, event.failure),
    },
  },
  'webhook.changed': {
    guard: 'isCurrent' as const,
    actions: turnChangeAway,
  },
  'webhook.unchanged': {
    guard: 'isCurrent' as const,
    actions: turnChangeAway,
  },
}

/** It was made before the poll that waits, and came after it. */
export const late = {
  guard: { type: 'isTooLate' as const, params: ({ event }: { event: PollRead }) => event.poll },
  actions: {
    type: 'reply' as const,
    params: ({ event }: { event: PollRead }): Reply => refused(event.poll, otherPoll),
  },
}

/** The account is out and the log is read: the poll is refused with the reason. */
export const inVain = {
  guard: { type: 'isInVain' as const, params: ({ event }: { event: PollRead }) => event },
  actions: [
    { type: 'moveTo' as const, params: ({ event }: { event: PollRead }) => event.cursor },
    'saveCursor' as const,
    {
      type: 'reply' as const,
      params: ({ event }: { event: PollRead }): Reply =>
        refused(event.poll, event.out ?? unauthorized),
    },
  ],
}
