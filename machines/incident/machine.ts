/** The life of an incident: it opens, is acknowledged or silenced by its owner, and is resolved once its cause stays away. */
import { getNextSnapshot, setup } from 'xstate'

/** A cause that comes back within this time belongs to the same incident. */
export const QUIET_MS = 120_000

export const INCIDENT_STATES = ['open', 'acknowledged', 'silenced', 'resolved'] as const

export type IncidentState = (typeof INCIDENT_STATES)[number]

export type IncidentEvent =
  | { readonly type: 'incident.acknowledge' }
  | { readonly type: 'incident.silence' }
  /** The time is over for which it was silenced, or its owner has taken the silence back. */
  | { readonly type: 'silence.ended' }
  /** The cause has stayed away for `QUIET_MS`. */
  | { readonly type: 'cause.gone' }

export const incidentMachine = setup({
  types: { events: {} as IncidentEvent },
}).createMachine({
  id: 'incident',
  initial: 'open',
  on: { 'cause.gone': '.resolved' },
  states: {
    open: {
      meta: { state: 'failed', action: 'none' },
      on: { 'incident.acknowledge': 'acknowledged', 'incident.silence': 'silenced' },
    },
    acknowledged: {
      meta: { state: 'degraded', action: 'wait' },
      on: { 'incident.silence': 'silenced' },
    },
    silenced: {
      meta: { state: 'limited', action: 'wait' },
      on: {
        'silence.ended': 'open',
        'incident.acknowledge': 'acknowledged',
        'incident.silence': 'silenced',
      },
    },
    resolved: { type: 'final', meta: { state: 'deactivated', action: 'none' } },
  },
})

/** The state after the event; the same state where the event means nothing to it. */
export function nextState(state: IncidentState, event: IncidentEvent): IncidentState {
  const snapshot = incidentMachine.resolveState({ value: state })
  return getNextSnapshot(incidentMachine, snapshot, event).value as IncidentState
}
