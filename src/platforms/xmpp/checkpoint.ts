/** Checkpoints of an account: a place in its archive and in those of its rooms, and the newest messages without an archive. */
import type { Json } from '../../../machines/model/protocol.ts'
import { fieldsOf } from '../kit/platform.ts'
import { nowSeconds } from './archive.ts'
import type { IncomingMessage } from './delivery.ts'
import type { Invitation } from './invitation.ts'
import { fingerprintOf, isRandom } from './message-identity.ts'

export interface Checkpoint {
  /** The archive id of the last stored message; empty: the archive was empty. */
  readonly mam: string
  /**
   * An archive id a little before it, from which the next session reads. Servers do not list messages in the order of
   * their archive ids, and several messages can have the same id, so the page after `mam` may miss new messages.
   */
  readonly from?: string
  /** The time of that message, in case the archive no longer has its id. Unix time in seconds. */
  readonly at: number
}

/** By the address of the archive. */
export type Checkpoints = ReadonlyMap<string, Checkpoint>

/** The most rooms in a checkpoint: all are stored with each event, and any person may invite the account into rooms. */
const mostRooms = 1_000

/** The checkpoints with one replaced. If there are too many, the room without messages for the longest time is dropped. */
export function withCheckpoint(
  checkpoints: Checkpoints,
  archive: string,
  checkpoint: Checkpoint,
  own: string,
): Checkpoints {
  // Who reads again from a time that is still to come would miss what was said before it.
  const at = Math.min(checkpoint.at, nowSeconds())
  const moved = new Map(checkpoints).set(archive, { ...checkpoint, at })
  if (moved.size <= mostRooms + 1) return moved
  const rooms = [...moved].filter(([address]) => address !== own && address !== archive)
  const [oldest] = rooms.toSorted(([, a], [, b]) => a.at - b.at)
  if (oldest) moved.delete(oldest[0])
  return moved
}

export function parseCheckpoints(stored: Json, own: string): Checkpoints {
  const checkpoints = new Map<string, Checkpoint>()
  const first = parse(stored)
  if (first) checkpoints.set(own, first)
  for (const [room, place] of Object.entries(fieldsOf(fieldsOf(stored).rooms))) {
    const checkpoint = parse(place)
    if (checkpoint) checkpoints.set(room, checkpoint)
  }
  return checkpoints
}

export function checkpointJson(
  checkpoints: Checkpoints,
  own: string,
  { invited, unarchived }: { invited: readonly Invitation[]; unarchived: readonly Unarchived[] },
): Json {
  if (checkpoints.size === 0 && invited.length === 0 && unarchived.length === 0) return null
  const rooms = [...checkpoints].filter(([address]) => address !== own)
  const places = rooms.map(([room, place]) => [room, { ...place }] as const)
  return {
    ...checkpoints.get(own),
    ...(places.length > 0 && { rooms: Object.fromEntries(places) }),
    ...(invited.length > 0 && { invited: invited.map((each) => ({ ...each })) }),
    ...(unarchived.length > 0 && { unarchived: unarchived.map((each) => [...each]) }),
  }
}

function parse(stored: Json | undefined): Checkpoint | undefined {
  const { mam, at, from } = fieldsOf(stored)
  if (typeof mam !== 'string') return undefined
  return { mam, ...(typeof from === 'string' && { from }), at: typeof at === 'number' ? at : 0 }
}

/** A remembered message: its fingerprint and its time, Unix time in seconds. */
export type Unarchived = readonly [fingerprint: string, at: number]

/** How much the clocks of the server and of this machine may differ. */
const toleranceSeconds = 60

/** Of those that no source key names. */
export const unarchivedOf = (deliveries: readonly IncomingMessage[]): readonly Unarchived[] =>
  deliveries
    .filter(({ archived, room, own, message }) => {
      const isNamed = archived !== undefined || (own && isRandom(message.attrs.id ?? ''))
      return !isNamed && !room
    })
    .map(({ message, at }) => [fingerprintOf(message), at])

export function parseUnarchived(stored: Json): Unarchived[] {
  const { unarchived } = fieldsOf(stored)
  return (Array.isArray(unarchived) ? unarchived : []).flatMap((each: Json): Unarchived[] => {
    const [fingerprint, at] = Array.isArray(each) ? each : []
    return typeof fingerprint === 'string' && typeof at === 'number' ? [[fingerprint, at]] : []
  })
}

/** A server sends again what it has kept at the start of a stream. */
const REPEATED_WITHIN_MS = 15 * 60_000

/** The last messages that earlier sessions have stored; each is recognized once, soon after the stream has begun. */
export class Repeats {
  readonly #expected: Map<string, Unarchived[]>
  readonly #until = performance.now() + REPEATED_WITHIN_MS

  constructor(stored: readonly Unarchived[]) {
    this.#expected = Map.groupBy(stored, ([fingerprint]) => fingerprint)
  }

  /** The stored message that the server repeats; `undefined`: it is a new one. */
  take({ message, at, delayed }: IncomingMessage): Unarchived | undefined {
    if (performance.now() > this.#until) this.#expected.clear()
    // A random id is unique. With any other id only a message kept by the server can be a repeat, and only of its own time.
    const isUnique = isRandom(message.attrs.id ?? '')
    if (this.#expected.size === 0 || (!delayed && !isUnique)) return undefined
    const fingerprint = fingerprintOf(message)
    const same = this.#expected.get(fingerprint) ?? []
    // An archive may have another clock.
    const seen = Math.min(at, nowSeconds())
    const place = same.findIndex(
      ([, since]) => isUnique || Math.abs(since - seen) <= toleranceSeconds,
    )
    if (place < 0) return undefined
    if (same.length === 1) this.#expected.delete(fingerprint)
    return same.splice(place, 1)[0]
  }
}
