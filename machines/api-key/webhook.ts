/** The key's states with a webhook: delivering, and changing while it is set, replayed or deleted. */

import { accepted, type Reply, refused } from '../model/protocol.ts'
import type { ApiKeyEvent, ChangeWebhook } from './events.ts'
import { isFirstRead, otherChange, setMeanwhile, webhookActive } from './refusals.ts'
import { apiKey } from './setup.ts'

/** Refuses the held poll, if there is one: the webhook takes its place. */
const endPolling = apiKey.enqueueActions(({ context, enqueue }) => {
  if (!context.waiting) return
  enqueue({ type: 'reply', params: refused(context.waiting, setMeanwhile) })
  enqueue.assign({ waiting: undefined })
})

export const beginsChange = [
  { type: 'beginChange' as const, params: ({ event }: { event: ChangeWebhook }) => event },
  { type: 'change' as const, params: ({ event }: { event: ChangeWebhook }) => event },
]

type Changed = Extract<ApiKeyEvent, { type: 'webhook.changed' }>
type Unchanged = Extract<ApiKeyEvent, { type: 'webhook.unchanged' }>

/** What is stored of the webhook holds for the key. */
export const adopts = {
  type: 'become' as const,
  params: ({ event }: { event: Changed }) => event.changed,
}

export const endsChanged = [
  adopts,
  {
    type: 'reply' as const,
    params: ({ event }: { event: Changed }): Reply => accepted(event),
  },
  'endChange' as const,
]

export const endsUnchanged = [
  {
    type: 'reply' as const,
    params: ({ event }: { event: Unchanged }): Reply => refused(event, event.failure),
  },
  'endChange' as const,
]

const polling = apiKey.createStateConfig({
  on: {
    'updates.poll': [
      {
        guard: { type: 'conflictsAgain', params: ({ event }) => event.now },
        actions: {
          type: 'refuseLater',
          params: ({ event: { requestId } }) => ({ requestId, failure: webhookActive }),
        },
      },
      {
        guard: { type: 'mayPoll', params: ({ event }) => event.now },
        actions: [
          { type: 'noteConflict', params: ({ event }) => event.now },
          { type: 'reply', params: ({ event }) => refused(event, webhookActive) },
        ],
      },
    ],
    'poll.read': {
      guard: isFirstRead,
      actions: { type: 'reply', params: ({ event }) => refused(event.poll, setMeanwhile) },
    },
  },
}).on

export const webhook = apiKey.createStateConfig({
  meta: { receiving: true },
  entry: 'deliver',
  exit: 'stopDelivering',
  on: {
    ...polling,
    'webhook.moved': { actions: { type: 'moveTo', params: ({ event }) => event.cursor } },
  },
})

export const changing = apiKey.createStateConfig({
  meta: { receiving: false },
  // The change is begun by who asks for it: a key that comes back here after a suspension still waits for the same one.
  entry: endPolling,
  on: {
    ...polling,
    'webhook.change': {
      target: 'changing',
      reenter: true,
      actions: [
        {
          type: 'reply',
          params: ({ context, event }) => refused(context.changing ?? event, otherChange),
        },
        ...beginsChange,
      ],
    },
    'webhook.changed': [
      { guard: 'isCurrent', target: 'quiet', actions: endsChanged },
      // A newer change follows, and may fail: adopt what is stored now.
      { actions: adopts },
    ],
    'webhook.unchanged': { guard: 'isCurrent', target: 'quiet', actions: endsUnchanged },
  },
})
