/** The life of a node, which is one start of the process: it joins the others, beats, and ends as left or as gone. */
import { setup } from 'xstate'
import * as port from '../model/effects.ts'

/** How long a node trusts itself after a beat. The others declare a silent node gone after ten seconds. */
export const LEASE_MS = 7_000
const AGAIN_MS = 250

export type NodeEvent =
  | { readonly type: 'node.joined' }
  | { readonly type: 'join.failed' }
  /** The database has counted a beat. `tookMs` is the time since it was sent. */
  | { readonly type: 'beat.answered'; readonly tookMs: number }
  /** The database has not counted it: another node has declared this one gone. */
  | { readonly type: 'beat.refused' }
  | { readonly type: 'node.drain' }
  /** An operator has taken the order to drain back. */
  | { readonly type: 'node.undrain' }
  | { readonly type: 'node.leave' }

export const nodeMachine = setup({
  types: { events: {} as NodeEvent },
  actors: { join: port.service('join'), beat: port.service('beat') },
  delays: {
    // The answer to a beat says how things stood when the beat was sent.
    lease: ({ event }) =>
      Math.max(0, LEASE_MS - (event.type === 'beat.answered' ? event.tookMs : 0)),
    again: AGAIN_MS,
  },
}).createMachine({
  id: 'node',
  initial: 'joining',
  states: {
    joining: {
      meta: { state: 'connecting', action: 'wait' },
      initial: 'asking',
      on: { 'node.leave': 'left' },
      states: {
        asking: {
          invoke: { src: 'join' },
          on: { 'node.joined': '#node.member', 'join.failed': 'waiting' },
        },
        waiting: { after: { again: 'asking' } },
      },
    },
    member: {
      invoke: { src: 'beat' },
      initial: 'up',
      on: { 'beat.refused': 'gone', 'node.leave': 'left' },
      states: {
        up: {
          meta: { state: 'active', action: 'none' },
          on: {
            'beat.answered': { target: 'up', reenter: true },
            'node.drain': 'draining',
          },
          after: { lease: 'suspended' },
        },
        // The others may take it for gone at any moment.
        suspended: {
          meta: { state: 'degraded', action: 'wait' },
          on: { 'beat.answered': 'up', 'node.drain': 'draining' },
        },
        draining: { meta: { state: 'limited', action: 'wait' }, on: { 'node.undrain': 'up' } },
      },
    },
    left: { type: 'final', meta: { state: 'deactivated', action: 'none' } },
    gone: { type: 'final', meta: { state: 'failed', action: 'none' } },
  },
})
