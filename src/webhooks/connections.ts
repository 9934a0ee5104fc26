/** How many attempts are under way at once, of all keys together: probes of dead endpoints have places of their own. */
import { FairSemaphore } from '../fair-semaphore.ts'

export interface ConnectionLimits {
  readonly deliveries: number
  readonly probes: number
}

export const usualConnections: ConnectionLimits = { deliveries: 500, probes: 200 }

/** However many endpoints of one user hang, they keep nobody else out. */
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
