/** Servers without an archive send a message again whose acknowledgement they did not get, perhaps to the next session. */
import type { Json } from '../../../actors/ports/platform.ts'
import { fieldsOf } from '../kit/stored.ts'
import type { Delivery } from './delivery.ts'
import { fingerprintOf, isRandom } from './message-identity.ts'

/** What is remembered of such a message: its fingerprint, and when it came. Unix time in seconds. */
export type Unarchived = readonly [fingerprint: string, at: number]

/** How much the clocks of the server and of this machine may differ. */
const toleranceSeconds = 60

export const unarchivedOf = (deliveries: readonly Delivery[]): readonly Unarchived[] =>
  deliveries
    .filter(({ archived, room, own }) => archived === undefined && !room && !own)
    .map(({ message, at }) => [fingerprintOf(message), at])

export function parseUnarchived(stored: Json): Unarchived[] {
  const { unarchived } = fieldsOf(stored)
  return (Array.isArray(unarchived) ? unarchived : []).flatMap((each: Json): Unarchived[] => {
    const [fingerprint, at] = Array.isArray(each) ? each : []
    return typeof fingerprint === 'string' && typeof at === 'number' ? [[fingerprint, at]] : []
  })
}

/** What the session before has stored last, each to be recognised once. */
export class Repeats {
  readonly #expected: Unarchived[]

  constructor(stored: readonly Unarchived[]) {
    this.#expected = [...stored]
  }

  /** Whether the server has kept this message although it is stored. */
  take({ message, at, delayed }: Delivery): boolean {
    // A random id is not used again; of another one only what the server has kept can be a repeat.
    if (this.#expected.length === 0 || (!delayed && !isRandom(message.attrs.id ?? ''))) return false
    const fingerprint = fingerprintOf(message)
    const place = this.#expected.findIndex(
      ([known, since]) => known === fingerprint && Math.abs(since - at) <= toleranceSeconds,
    )
    if (place >= 0) this.#expected.splice(place, 1)
    return place >= 0
  }
}
