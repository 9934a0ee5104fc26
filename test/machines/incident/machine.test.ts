/** The life of an incident: what each event does in each of its states. */
import t from 'tap'
import {
  type IncidentEvent,
  type IncidentState,
  nextState,
} from '../../../machines/incident/machine.ts'

const events: readonly IncidentEvent[] = [
  { type: 'incident.acknowledge' },
  { type: 'incident.silence' },
  { type: 'silence.ended' },
  { type: 'cause.gone' },
]

const table: Record<IncidentState, readonly IncidentState[]> = {
  open: ['acknowledged', 'silenced', 'open', 'resolved'],
  acknowledged: ['acknowledged', 'silenced', 'acknowledged', 'resolved'],
  silenced: ['acknowledged', 'silenced', 'open', 'resolved'],
  resolved: ['resolved', 'resolved', 'resolved', 'resolved'],
}

for (const [state, next] of Object.entries(table) as [IncidentState, readonly IncidentState[]][]) {
  t.test(`each event to an incident that is ${state}`, async (t) => {
    t.same(
      events.map((event) => nextState(state, event)),
      next,
    )
  })
}
