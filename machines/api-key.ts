/** One API key: usable, expired or revoked; while usable, at most one getUpdates waits. */

import { EMPTY_PAGE, pageOf } from './api-key-events.ts'
import { lacks, otherPoll, turnAway, unauthorized } from './api-key-refusals.ts'
import { apiKey, endWaiting, waitingIn } from './api-key-setup.ts'
import { accepted, refused } from './protocol.ts'

export const apiKeyMachine = apiKey.createMachine({
  id: 'apiKey',
  context: ({ input }) => ({
    ...input,
    waiting: undefined,
    lastPoll: undefined,
    conflictAt: Number.NEGATIVE_INFINITY,
    current: undefined,
  }),
  on: turnAway,
  initial: 'judging',
  states: {
    judging: { always: [{ guard: 'isRevoked', target: 'revoked' }, { target: 'usable' }] },
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
            guard: ({ event }) => event.overBySeconds !== undefined,
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
          { actions: { type: 'reply', params: ({ event }) => accepted(event) } },
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
            actions: [
              { type: 'confirm', params: ({ event }) => event },
              { type: 'begin', params: ({ event }) => event },
              'saveCursor',
              { type: 'read', params: ({ context }) => context.current },
            ],
          },
        ],
        'updates.drop': {
          actions: [
            { type: 'moveTo', params: ({ event }) => event.next - 1 },
            'saveCursor',
            { type: 'reply', params: ({ event }) => accepted(event) },
          ],
        },
        'poll.read': [
          // Had it still been waiting, it would have been answered where it waits.
          { guard: { type: 'isHeld', params: ({ event }) => event.poll } },
          {
            guard: { type: 'isAnswered', params: ({ event }) => event },
            actions: [
              { type: 'moveTo', params: ({ event }) => event.cursor },
              'saveCursor',
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
        'key.changed': {
          actions: [
            { type: 'adopt', params: ({ event }) => event.terms },
            { type: 'reply', params: ({ event }) => accepted(event) },
          ],
        },
        'key.revoke': {
          target: 'revoked',
          actions: [{ type: 'reply', params: ({ event }) => accepted(event) }],
        },
      },
      initial: 'quiet',
      states: {
        quiet: { meta: { receiving: false } },
        held: {
          meta: { receiving: true },
          after: {
            pollEnds: {
              target: 'quiet',
              actions: [
                {
                  type: 'reply',
                  params: ({ context }) => accepted(waitingIn(context), EMPTY_PAGE),
                },
                'release',
              ],
            },
          },
          on: {
            'polls.end': {
              target: 'quiet',
              actions: [
                {
                  type: 'reply',
                  params: ({ context }) => accepted(waitingIn(context), EMPTY_PAGE),
                },
                'release',
              ],
            },
            'request.abandoned': {
              guard: { type: 'isWaiting', params: ({ event }) => event },
              target: 'quiet',
              actions: 'release',
            },
          },
          initial: 'listening',
          states: {
            listening: {
              invoke: {
                src: 'listener',
                input: ({ context }) => ({
                  credentialId: context.credentialId,
                  after: context.waiting?.head ?? context.cursor,
                }),
              },
              on: { 'updates.appended': { target: 'gathering' } },
            },
            // A moment of patience lets a burst leave in one answer.
            gathering: { after: { burst: { target: 'reading' } } },
            reading: {
              entry: { type: 'read', params: ({ context }) => context.waiting },
              on: {
                'poll.read': [
                  {
                    guard: { type: 'answersWaiting', params: ({ event }) => event },
                    target: '#apiKey.usable.quiet',
                    actions: [
                      { type: 'reply', params: ({ event }) => accepted(event.poll, pageOf(event)) },
                      'release',
                    ],
                  },
                  {
                    guard: { type: 'isWaiting', params: ({ event }) => event.poll },
                    target: 'listening',
                    actions: { type: 'advance', params: ({ event }) => event.head },
                  },
                ],
                'poll.failed': {
                  guard: { type: 'isWaiting', params: ({ event }) => event.poll },
                  target: '#apiKey.usable.quiet',
                  actions: [
                    {
                      type: 'reply',
                      params: ({ event }) => refused(event.poll, event.failure),
                    },
                    'release',
                  ],
                },
              },
            },
          },
        },
      },
    },
    expired: {
      entry: endWaiting,
      on: {
        'key.changed': {
          target: 'usable',
          actions: [
            { type: 'adopt', params: ({ event }) => event.terms },
            { type: 'reply', params: ({ event }) => accepted(event) },
          ],
        },
        'key.revoke': {
          target: 'revoked',
          actions: { type: 'reply', params: ({ event }) => accepted(event) },
        },
      },
    },
    revoked: {
      entry: endWaiting,
      on: {
        'key.changed': {
          actions: { type: 'reply', params: ({ event }) => refused(event, unauthorized) },
        },
        'key.revoke': {
          actions: { type: 'reply', params: ({ event }) => accepted(event) },
        },
      },
    },
  },
})
