/** Limits the parallel attempts of all keys together. Probes of dead endpoints have a limit of their own. */
import { FairSemaphore } from '../fair-semaphore.ts'

interface ConnectionLimits {
  readonly deliveries: number
  readonly probes: number
}

export const usualConnections: ConnectionLimits = { deliveries: 500, probes: 200 }

/** Users take turns, so the hanging endpoints of one user do not block the others. */
export class Connections {
  readonly #deliveries: FairSemaphore
  readonly #probes: FairSemaphore

  constructor({ deliveries, probes }: ConnectionLimits = usualConnections) {
    this.#deliveries = new FairSemaphore({ places: deliveries })
    this.#probes = new FairSemaphore({ places: probes })
  }

  for(isProbe: boolean): Pick<FairSemaphore, 'take' | 'release'> {
    return isProbe ? this.#probes : this.#deliveries
  }
}
