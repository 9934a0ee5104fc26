/** One credential's life on its platform: queued, connecting, online, deaf, limited, waiting, or stopped for a reason. */

import { accepted } from '../model/protocol.ts'
import { afterCrash, crashed, resumed } from './crash.ts'
import { deactivating, leaving } from './deletion.ts'
import * as refusal from './refusals.ts'
import { refuse, toRefusal, untilLimitEnds } from './refusals.ts'
import { credential, DOUBT_MS, initially, probing, proven } from './setup.ts'

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
      actions: [
        'absolve',
        'forgetCrashes',
        'forgetReclaim',
        { type: 'reply', params: ({ event }) => accepted(event) },
      ],
    },
    'credential.relinked': {
      target: '.queued',
      actions: [
        { type: 'forgetSession', params: ({ event }) => event.link },
        'absolve',
        'forgetCrashes',
        'forgetReclaim',
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
      always: [...afterCrash, ...resumed],
    },
    crashed,
    queued: {
      meta: { state: 'connecting', action: 'none' },
      invoke: { src: 'turn' },
      on: { 'turn.granted': { target: 'live' } },
    },
    live: {
      invoke: { src: 'session' },
      on: {
        'credential.check': { actions: { type: 'check', params: ({ event }) => event } },
        'session.lost': [
          {
            // No fault of the network, which is not to be made to wait for it.
            guard: { type: 'isOwnStorage', params: ({ event }) => event.reason },
            target: 'stalled',
            actions: { type: 'blame', params: 'storage' },
          },
          {
            target: 'waiting',
            actions: [
              { type: 'blame', params: ({ event }) => event.reason },
              { type: 'countLoss', params: ({ event }) => event.retryAfterMs ?? 0 },
            ],
          },
        ],
        // Also of one that is restricted already: the new time counts.
        'session.limited': {
          target: '.limited',
          actions: { type: 'restrict', params: ({ event }) => event },
        },
        // They change nothing: the timeline alone has them.
        'messages.skipped': {},
        'changes.skipped': {},
        'archive.missing': {},
        'rooms.unshared': {},
        'updates.skipped': {},
        'session.replaced': {
          target: 'replaced',
          actions: { type: 'blame', params: 'replaced_elsewhere' },
        },
        'session.revoked': [
          {
            guard: { type: 'isDoubtful', params: ({ event }) => event.mayPass === true },
            target: 'waiting',
            actions: [
              { type: 'blame', params: ({ event }) => event.reason },
              'doubt',
              { type: 'countLoss', params: DOUBT_MS },
            ],
          },
          {
            target: 'signedOut',
            actions: { type: 'blame', params: ({ event }) => event.reason },
          },
        ],
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
            opening: {
              on: {
                'session.opened': [
                  {
                    guard: { type: 'isUnproven', params: ({ event }) => event.isProven !== true },
                    target: 'verifying',
                  },
                  ...proven,
                ],
              },
            },
            verifying: {
              invoke: { src: 'probe' },
              on: {
                'probe.passed': proven,
                'probe.failed': { target: '#credential.live.deaf', actions: 'countFailedProbe' },
              },
            },
          },
        },
        online: {
          meta: { state: 'active', action: 'none' },
          entry: 'absolve',
          after: { steady: { actions: 'forgetLosses' }, settled: { actions: 'forgetReclaim' } },
          on: {
            'operation.perform': {
              actions: { type: 'perform', params: ({ event }) => event },
            },
          },
          ...probing,
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
                'probe.passed': proven,
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
          entry: 'keepLimit',
          after: { limitEnds: { target: 'starting.verifying', actions: 'absolve' } },
          on: {
            'operation.perform': {
              actions: {
                type: 'reply',
                params: ({ event, context }) => untilLimitEnds(event, context.limit?.until),
              },
            },
          },
          // A restricted account can fall silent like any other.
          ...probing,
        },
        leaving,
      },
    },
    waiting: {
      meta: { state: 'connecting', action: 'wait' },
      after: { backoff: { target: 'queued' } },
    },
    // The service's own database was away when the session was to begin.
    stalled: {
      meta: { state: 'connecting', action: 'wait' },
      invoke: { src: 'recovery' },
      on: { 'storage.recovered': { target: 'queued' } },
    },
    // The other client may be gone by now, or never was. Two that claim the session in turn would do so for ever.
    replaced: {
      meta: { state: 'failed', action: 'restart' },
      on: refuse(refusal.replaced),
      after: {
        tryAgain: { guard: 'mayReclaim', target: 'queued', actions: ['absolve', 'reclaim'] },
      },
    },
    signedOut: {
      meta: { state: 'logged_out', action: 'link_again' },
      on: refuse(refusal.signedOut),
    },
    invalid: {
      meta: { state: 'invalid', action: 'contact_platform' },
      on: refuse(refusal.invalid),
    },
    // It may work again by now, so it does not wait for an operator.
    failed: {
      meta: { state: 'failed', action: 'restart' },
      on: refuse(refusal.broken),
      after: { tryAgain: { target: 'queued', actions: 'absolve' } },
    },
    deactivating,
    deactivated: {
      type: 'final',
      meta: { state: 'deactivated', action: 'none' },
    },
  },
})
