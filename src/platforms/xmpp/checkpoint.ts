/** How far the events of an account are stored: a place in its archive, and one in that of each of its rooms. */
import type { Json } from '../../../actors/ports/platform.ts'
import { fieldsOf } from '../kit/stored.ts'
import type { Invitation } from './invitation.ts'
import type { Unarchived } from './unarchived.ts'

export interface Checkpoint {
  /** The archive id of the last message that is dealt with; empty: the archive was empty. */
  readonly mam: string
  /**
   * An archive id a little before it, from which the next session reads. Servers do not show messages in the order
   * of their archive ids, and several messages can have the same one: what comes after `mam` is not all that is new.
   */
  readonly from?: string
  /** When that was, in case the archive no longer knows the id. Unix time in seconds. */
  readonly at: number
}

/** By the address of the archive. */
export type Checkpoints = ReadonlyMap<string, Checkpoint>

/** All of them are stored with each event, and anybody may invite the account into ever new rooms. */
const mostRooms = 1_000

/** The same with one moved; the room that was silent for longest is given up where there are too many. */
export function withCheckpoint(
  checkpoints: Checkpoints,
  archive: string,
  checkpoint: Checkpoint,
  own: string,
): Checkpoints {
  const moved = new Map(checkpoints).set(archive, checkpoint)
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
