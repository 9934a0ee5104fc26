/** How a credential ends: the decision is stored, its session signed out, its secrets wiped. */

import { accepted } from '../model/protocol.ts'
import * as refusal from './refusals.ts'
import { refuse, refuseReturn } from './refusals.ts'
import { credential } from './setup.ts'

const meta = { state: 'deactivated', action: 'none' }

/** Refuses every operation and every way back. */
const gone = { ...refuse(refusal.leaving), ...refuseReturn }

/** With a session: it is to end on the network too. */
export const leaving = credential.createStateConfig({
  meta,
  on: {
    ...gone,
    'session.lost': { target: '#credential.deactivating' },
    'session.limited': {},
    'session.replaced': { target: '#credential.deactivating' },
    'session.revoked': { target: '#credential.deactivating' },
    'session.invalid': { target: '#credential.deactivating' },
  },
  initial: 'noting',
  states: {
    noting: {
      invoke: { src: 'deletion' },
      on: {
        'deletion.stored': { target: 'signingOut' },
        'deletion.failed': { target: 'pausing' },
      },
    },
    pausing: { after: { deleteAgain: { target: 'noting' } } },
    // The service stopped in the middle of the deletion: the session is opened once more, to be ended.
    returning: {
      on: { 'session.opened': { target: 'signingOut' } },
      after: { openingTakes: { target: '#credential.deactivating' } },
    },
    signingOut: {
      invoke: { src: 'signOut' },
      on: { 'signout.finished': { target: '#credential.deactivating.wiping' } },
    },
  },
})

/** Without a session. */
export const deactivating = credential.createStateConfig({
  meta,
  on: gone,
  initial: 'noting',
  states: {
    noting: {
      invoke: { src: 'deletion' },
      on: {
        'deletion.stored': { target: 'wiping' },
        'deletion.failed': { target: 'pausing' },
      },
    },
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
    // The actor that carried the deletion out crashed: a moment later it is taken up again.
    crashed: { after: { crashRest: { target: '#credential.live.leaving.returning' } } },
    pausing: { after: { deleteAgain: { target: 'noting' } } },
  },
})
