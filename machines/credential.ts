/** One credential's life on its platform: queued, connecting, online, deaf, limited, waiting, or stopped for a reason. */

import * as refusal from './credential-refusals.ts'
import { refuse, refuseReturn, toRefusal, untilLimitEnds } from './credential-refusals.ts'
import { credential, initially } from './credential-setup.ts'
import { accepted } from './protocol.ts'

export const credentialMachine = credential.createMachine({
  id: 'credential',
  context: ({ input }) => initially(input),
  on: {
    ...refuse(refusal.reconnecting),
    'request.settled': { actions: { type: 'reply', params: ({ event }) => event.reply } },
    'credential.settings': {
      actions: [
        { type: 'adopt', params: ({ event }) => event.settings },
        { type: 'reply', params: ({ event }) => accepted(event) },
      ],
    },
    'credential.restart': {
      target: '.queued',
      actions: ['absolve', { type: 'reply', params: ({ event }) => accepted(event) }],
    },
    'credential.relinked': {
      target: '.queued',
      actions: [
        'forgetSession',
        'absolve',
        { type: 'reply', params: ({ event }) => accepted(event) },
      ],
    },
    'credential.delete': {
      target: '.deactivating',
      actions: { type: 'awaitDeletion', params: ({ event }) => event },
    },
  },
  initial: 'resuming',
  states: {
    resuming: {
      meta: { state: 'connecting', action: 'none' },
      always: [
        { guard: { type: 'resumesAs', params: 'signedOut' }, target: 'signedOut' },
        { guard: { type: 'resumesAs', params: 'invalid' }, target: 'invalid' },
        { guard: { type: 'resumesAs', params: 'replaced' }, target: 'replaced' },
        { guard: { type: 'resumesAs', params: 'failed' }, target: 'failed' },
        { target: 'queued' },
      ],
    },
    queued: {
      meta: { state: 'connecting', action: 'none' },
      invoke: { src: 'turn' },
      on: { 'turn.granted': { target: 'live' } },
    },
    live: {
      invoke: { src: 'session' },
      on: {
        'session.events': {
          actions: {
            type: 'store',
            params: ({ event, context }) => ({ event, settings: context.settings }),
          },
        },
        'credential.check': { actions: { type: 'check', params: ({ event }) => event } },
        'session.lost': {
          target: 'waiting',
          actions: [
            { type: 'blame', params: ({ event }) => event.reason },
            { type: 'countLoss', params: ({ event }) => event.retryAfterMs ?? 0 },
          ],
        },
        'session.limited': {
          target: '.limited',
          actions: { type: 'restrict', params: ({ event }) => event },
        },
        'session.replaced': {
          target: 'replaced',
          actions: { type: 'blame', params: 'replaced_elsewhere' },
        },
        'session.revoked': {
          target: 'signedOut',
          actions: { type: 'blame', params: ({ event }) => event.reason },
        },
        'session.invalid': {
          target: 'invalid',
          actions: { type: 'blame', params: ({ event }) => event.reason },
        },
        'credential.delete': {
          target: '.leaving',
          actions: { type: 'awaitDeletion', params: ({ event }) => event },
        },
      },
      initial: 'starting',
      states: {
        starting: {
          meta: { state: 'connecting', action: 'none' },
          exit: 'releaseTurn',
          after: {
            openingTakes: {
              target: '#credential.waiting',
              actions: [
                { type: 'blame', params: 'network' },
                { type: 'countLoss', params: 0 },
              ],
            },
          },
          initial: 'opening',
          states: {
            opening: { on: { 'session.opened': { target: 'verifying' } } },
            verifying: {
              invoke: { src: 'probe' },
              on: {
                'probe.passed': [
                  { guard: 'isLimited', target: '#credential.live.limited' },
                  { target: '#credential.live.online' },
                ],
                'probe.failed': { target: '#credential.live.deaf', actions: 'countFailedProbe' },
              },
            },
          },
        },
        online: {
          meta: { state: 'active', action: 'none' },
          entry: 'absolve',
          after: { steady: { actions: 'forgetLosses' } },
          on: {
            'operation.perform': {
              actions: { type: 'perform', params: ({ event }) => event },
            },
          },
          initial: 'quiet',
          states: {
            quiet: { after: { probeEvery: { target: 'checking' } } },
            checking: {
              invoke: { src: 'probe' },
              on: {
                'probe.passed': { target: 'quiet' },
                'probe.failed': { target: '#credential.live.deaf', actions: 'countFailedProbe' },
              },
            },
          },
        },
        deaf: {
          meta: { state: 'degraded', action: 'wait' },
          entry: { type: 'blame', params: 'no_traffic' },
          on: { 'operation.perform': toRefusal(refusal.deaf) },
          initial: 'pausing',
          states: {
            pausing: { after: { probeAgain: { target: 'checking' } } },
            checking: {
              invoke: { src: 'probe' },
              on: {
                'probe.passed': { target: '#credential.live.online' },
                'probe.failed': [
                  {
                    guard: 'needsNewSession',
                    target: '#credential.waiting',
                    actions: { type: 'countLoss', params: 0 },
                  },
                  { target: 'pausing', actions: 'countFailedProbe' },
                ],
              },
            },
          },
        },
        limited: {
          meta: { state: 'degraded', action: 'wait' },
          after: { limitEnds: { target: 'starting.verifying', actions: 'absolve' } },
          on: {
            'operation.perform': {
              actions: {
                type: 'reply',
                params: ({ event, context }) => untilLimitEnds(event, context.limit?.until),
              },
            },
            // The session repeats a restriction, or tells another one: the new time counts.
            'session.limited': {
              target: 'limited',
              reenter: true,
              actions: { type: 'restrict', params: ({ event }) => event },
            },
          },
        },
        leaving: {
          meta: { state: 'deactivated', action: 'none' },
          invoke: { src: 'signOut' },
          on: {
            ...refuse(refusal.leaving),
            ...refuseReturn,
            'signout.finished': { target: '#credential.deactivating' },
            'session.lost': { target: '#credential.deactivating' },
            'session.limited': {},
            'session.replaced': { target: '#credential.deactivating' },
            'session.revoked': { target: '#credential.deactivating' },
            'session.invalid': { target: '#credential.deactivating' },
          },
        },
      },
    },
    waiting: {
      meta: { state: 'connecting', action: 'wait' },
      after: { backoff: { target: 'queued' } },
    },
    replaced: {
      meta: { state: 'failed', action: 'restart' },
      on: refuse(refusal.replaced),
    },
    signedOut: {
      meta: { state: 'logged_out', action: 'link_again' },
      on: refuse(refusal.signedOut),
    },
    invalid: {
      meta: { state: 'invalid', action: 'contact_platform' },
      on: refuse(refusal.invalid),
    },
    failed: {
      meta: { state: 'failed', action: 'restart' },
      on: refuse(refusal.broken),
    },
    deactivating: {
      meta: { state: 'deactivated', action: 'none' },
      on: {
        ...refuse(refusal.leaving),
        ...refuseReturn,
      },
      initial: 'wiping',
      states: {
        wiping: {
          invoke: { src: 'deactivation' },
          on: {
            'deactivation.finished': {
              target: '#credential.deactivated',
              actions: {
                type: 'reply',
                params: ({ context }) => accepted(context.deletion ?? { requestId: '' }),
              },
            },
            'deactivation.failed': { target: 'pausing' },
          },
        },
        pausing: { after: { deactivateAgain: { target: 'wiping' } } },
      },
    },
    deactivated: {
      type: 'final',
      meta: { state: 'deactivated', action: 'none' },
    },
  },
})
