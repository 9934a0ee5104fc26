/** The states in which a key opens nothing: expired, suspended with its user, rotated and revoked. */
import { refused } from '../model/protocol.ts'
import type { UserSuspended } from './events.ts'
import { refusalIn, toAccepted, unauthorized } from './refusals.ts'
import { apiKey, takeTerms } from './setup.ts'
import { adopts, endsChanged, endsUnchanged } from './webhook.ts'

/** Refuses the poll that is held, if there is one. */
const endWaiting = apiKey.enqueueActions(({ context, enqueue }) => {
  if (!context.waiting) return
  enqueue({ type: 'reply', params: refused(context.waiting, refusalIn(context)) })
  enqueue.assign({ waiting: undefined })
})

/** What is being stored of a webhook is carried out, and the key goes on with it, or waits for it, once it is usable again. */
const changeEnds = apiKey.createStateConfig({
  on: {
    'webhook.changed': [{ guard: 'isCurrent', actions: endsChanged }, { actions: adopts }],
    'webhook.unchanged': { guard: 'isCurrent', actions: endsUnchanged },
  },
}).on

export const suspends = {
  target: 'suspended' as const,
  actions: {
    type: 'suspend' as const,
    params: ({ event }: { event: UserSuspended }) => event.suspension,
  },
}

const revokes = { target: 'revoked' as const, actions: toAccepted }

export const expired = apiKey.createStateConfig({
  entry: endWaiting,
  on: {
    ...changeEnds,
    'key.changed': [
      { guard: 'isChanging', target: '#apiKey.usable.changing', actions: takeTerms },
      { target: 'usable', actions: takeTerms },
    ],
    'key.revoke': revokes,
    'user.suspended': suspends,
  },
})

/** Updates wait in the log meanwhile; a webhook goes on where it stopped. */
export const suspended = apiKey.createStateConfig({
  entry: endWaiting,
  on: {
    ...changeEnds,
    'key.changed': { actions: takeTerms },
    'key.revoke': revokes,
    'user.resumed': [
      { guard: 'isChanging', target: '#apiKey.usable.changing', actions: 'resume' },
      { target: 'usable', actions: 'resume' },
    ],
  },
})

/** For good: revoked or rotated. */
export const ended = apiKey.createStateConfig({
  entry: endWaiting,
  on: {
    'key.changed': {
      actions: { type: 'reply', params: ({ event }) => refused(event, unauthorized) },
    },
    'key.revoke': { actions: toAccepted },
  },
})
