/** One API key: usable, expired, rotated or revoked; while usable, it is polled, has a webhook, or neither. */
import { accepted, refused } from '../model/protocol.ts'
import { pageOf } from './events.ts'
import { inVain, lacks, late, otherPoll, toAccepted, turnAway, unauthorized } from './refusals.ts'
import { apiKey, lastRead, letGo, takeTerms, waitingIn } from './setup.ts'
import { ended, expired, suspended, suspends } from './unusable.ts'
import { beginsChange, changing, webhook } from './webhook.ts'

export const apiKeyMachine = apiKey.createMachine({
  id: 'apiKey',
  context: ({ input }) => ({
    ...input,
    waiting: undefined,
    lastPoll: undefined,
    conflictAt: Number.NEGATIVE_INFINITY,
    current: undefined,
    changing: undefined,
  }),
  on: {
    ...turnAway,
    'key.rotated': {
      target: '.rotated',
      actions: toAccepted,
    },
    'webhook.stopped': {
      actions: { type: 'keepStanding', params: ({ event }) => event.standing },
    },
  },
  initial: 'judging',
  states: {
    judging: {
      always: [
        { guard: 'isRevoked', target: 'revoked' },
        { guard: 'isSuspended', target: 'suspended' },
        { target: 'usable' },
      ],
    },
    usable: {
      on: {
        'call.admit': [
          {
            guard: { type: 'isExpired', params: ({ event }) => event.now },
            target: 'expired',
            actions: { type: 'reply', params: ({ event }) => refused(event, unauthorized) },
          },
          {
            guard: { type: 'lacksScope', params: ({ event }) => event.scope },
            actions: { type: 'reply', params: ({ event }) => refused(event, lacks(event.scope)) },
          },
          {
            guard: { type: 'isOverRate', params: ({ event }) => event.overBySeconds },
            actions: {
              type: 'reply',
              params: ({ event }) =>
                refused(event, {
                  code: 'rate_limited',
                  description: '',
                  retryAfterSeconds: event.overBySeconds ?? 1,
                }),
            },
          },
          { actions: toAccepted },
        ],
        'updates.poll': [
          {
            guard: { type: 'isExpired', params: ({ event }) => event.now },
            target: 'expired',
            actions: { type: 'reply', params: ({ event }) => refused(event, unauthorized) },
          },
          {
            guard: { type: 'lacksScope', params: 'bot:receive' },
            actions: {
              type: 'reply',
              params: ({ event }) => refused(event, lacks('bot:receive')),
            },
          },
          {
            guard: { type: 'readsNothing', params: ({ event }) => event },
            target: '.held',
            actions: [{ type: 'holdAtOnce', params: ({ event }) => event }, 'saveCursor'],
          },
          {
            actions: [
              { type: 'begin', params: ({ event }) => event },
              'saveCursor',
              { type: 'read', params: ({ context }) => context.current },
            ],
          },
        ],
        'updates.drop': {
          actions: [
            { type: 'moveTo', params: ({ event }) => event.next - 1 },
            'countAnew',
            'saveCursor',
            toAccepted,
          ],
        },
        'updates.allow': {
          actions: [{ type: 'allow', params: ({ event }) => event }, 'saveCursor', toAccepted],
        },
        'webhook.change': {
          target: '.changing',
          actions: beginsChange,
        },
        'poll.read': [
          // Had it still been waiting, it would have been answered where it waits.
          { guard: { type: 'isHeld', params: ({ event }) => event.poll } },
          inVain,
          {
            guard: { type: 'isAnswered', params: ({ event }) => event },
            actions: [
              { type: 'moveTo', params: ({ event }) => event.cursor },
              'saveCursor',
              { type: 'countAnswer', params: ({ event }) => event },
              { type: 'reply', params: ({ event }) => accepted(event.poll, pageOf(event)) },
            ],
          },
          {
            guard: 'nobodyWaits',
            target: '.held',
            actions: [
              { type: 'moveTo', params: ({ event }) => event.cursor },
              { type: 'hold', params: ({ event }) => event },
            ],
          },
          late,
          {
            guard: { type: 'conflictedLately', params: ({ event }) => event.now },
            target: '.held',
            reenter: true,
            actions: [
              { type: 'moveTo', params: ({ event }) => event.cursor },
              'endWaitingLater',
              { type: 'hold', params: ({ event }) => event },
            ],
          },
          {
            target: '.held',
            reenter: true,
            actions: [
              { type: 'moveTo', params: ({ event }) => event.cursor },
              { type: 'noteConflict', params: ({ event }) => event.now },
              {
                type: 'reply',
                params: ({ context }) => refused(waitingIn(context), otherPoll),
              },
              { type: 'hold', params: ({ event }) => event },
            ],
          },
        ],
        'key.changed': { actions: takeTerms },
        'key.revoke': {
          target: 'revoked',
          actions: toAccepted,
        },
        'user.suspended': suspends,
      },
      initial: 'quiet',
      states: {
        quiet: { meta: { receiving: false }, always: { guard: 'hasWebhook', target: 'webhook' } },
        changing,
        webhook,
        held: {
          meta: { receiving: true },
          // The result comes as `poll.read`.
          entry: { type: 'listen', params: ({ context }) => waitingIn(context) },
          exit: 'stopListening',
          after: {
            pollEnds: [{ guard: 'isOutlived', target: '#apiKey.expired' }, letGo],
          },
          on: {
            'polls.end': letGo,
            'account.out': lastRead,
            'key.changed': [
              {
                guard: { type: 'mayNotReceive', params: ({ event }) => event.terms },
                target: 'quiet',
                actions: [
                  ...takeTerms,
                  {
                    type: 'reply',
                    params: ({ context }) => refused(waitingIn(context), lacks('bot:receive')),
                  },
                  'release',
                ],
              },
              {
                // The next poll waits by the new time.
                guard: { type: 'expiresOtherwise', params: ({ event }) => event.terms },
                target: 'quiet',
                actions: [...takeTerms, ...letGo.actions],
              },
              { actions: takeTerms },
            ],
            'request.abandoned': {
              guard: { type: 'isWaiting', params: ({ event }) => event },
              target: 'quiet',
              actions: 'release',
            },
            'poll.read': [
              {
                guard: { type: 'answersWaiting', params: ({ event }) => event },
                target: 'quiet',
                actions: [
                  { type: 'countAnswer', params: ({ event }) => event },
                  { type: 'reply', params: ({ event }) => accepted(event.poll, pageOf(event)) },
                  'release',
                ],
              },
              {
                // The key wants none of these updates: it waits on, behind the last one read.
                guard: { type: 'isWaiting', params: ({ event }) => event.poll },
                actions: [
                  { type: 'advance', params: ({ event }) => event.head },
                  { type: 'listen', params: ({ context }) => waitingIn(context) },
                ],
              },
            ],
            'poll.failed': {
              guard: { type: 'isWaiting', params: ({ event }) => event.poll },
              target: 'quiet',
              actions: [
                { type: 'reply', params: ({ event }) => refused(event.poll, event.failure) },
                'release',
              ],
            },
          },
        },
      },
    },
    expired,
    suspended,
    // The next call meets a new actor, which knows the new secret.
    rotated: ended,
    revoked: ended,
  },
})
