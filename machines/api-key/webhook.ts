/** The key's states with a webhook: one that is delivered to, and one that is being set, moved or deleted. */

import { accepted, refused } from '../model/protocol.ts'
import { isFirstRead, otherChange, setMeanwhile, webhookActive } from './refusals.ts'
import { apiKey } from './setup.ts'

/** The poll that waits, if there is one, makes room for the webhook. */
const endPolling = apiKey.enqueueActions(({ context, enqueue }) => {
  if (!context.waiting) return
  enqueue({ type: 'reply', params: refused(context.waiting, setMeanwhile) })
  enqueue.assign({ waiting: undefined })
})

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
  entry: [endPolling, { type: 'change', params: ({ context }) => context.changing }],
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
        { type: 'beginChange', params: ({ event }) => event },
      ],
    },
    'webhook.changed': [
      {
        guard: 'isCurrent',
        target: 'quiet',
        actions: [
          { type: 'become', params: ({ event }) => event.changed },
          { type: 'reply', params: ({ event }) => accepted(event) },
          'endChange',
        ],
      },
      // Another one came after it, and may fail: this is what is stored by now.
      { actions: { type: 'become', params: ({ event }) => event.changed } },
    ],
    'webhook.unchanged': {
      guard: 'isCurrent',
      target: 'quiet',
      actions: [
        { type: 'reply', params: ({ event }) => refused(event, event.failure) },
        'endChange',
      ],
    },
  },
})
