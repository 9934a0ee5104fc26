/** The round trips by which a connected credential proves that something still flows. */
import { credential } from './setup.ts'

/** A round trip came back: what the account may do now. */
export const proven = [
  { guard: 'isLimited' as const, target: '#credential.live.limited' as const },
  { target: '#credential.live.online' as const },
]

/** The inside of a state whose round trip is proved again and again. */
export const probing = credential.createStateConfig({
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
})
