/** How far the events of an account are stored: a place in its archive, and one in that of each of its rooms. */
import type { Json } from '../../../actors/platform.ts'
import type { Invitation } from './invitation.ts'
import { isObject } from './json.ts'

export interface Checkpoint {
  /** The archive id of the last message that is dealt with; empty: the archive was empty. */
  readonly mam: string
  /** When that was, in case the archive no longer knows the id. Unix time in seconds. */
  readonly at: number
}

/** By the address of the archive. */
export type Checkpoints = ReadonlyMap<string, Checkpoint>

export function parseCheckpoints(stored: Json, own: string): Checkpoints {
  const checkpoints = new Map<string, Checkpoint>()
  const first = parse(stored)
  if (first) checkpoints.set(own, first)
  const rooms = isObject(stored) && isObject(stored.rooms) ? stored.rooms : {}
  for (const [room, place] of Object.entries(rooms)) {
    const checkpoint = parse(place)
    if (checkpoint) checkpoints.set(room, checkpoint)
  }
  return checkpoints
}

export function checkpointJson(
  checkpoints: Checkpoints,
  own: string,
  invited: readonly Invitation[],
): Json {
  if (checkpoints.size === 0 && invited.length === 0) return null
  const rooms = [...checkpoints].filter(([address]) => address !== own)
  const places = rooms.map(([room, place]) => [room, { ...place }] as const)
  return {
    ...checkpoints.get(own),
    ...(places.length > 0 && { rooms: Object.fromEntries(places) }),
    ...(invited.length > 0 && { invited: invited.map((each) => ({ ...each })) }),
  }
}

function parse(stored: Json | undefined): Checkpoint | undefined {
  if (!isObject(stored)) return undefined
  const { mam, at } = stored
  return typeof mam === 'string' ? { mam, at: typeof at === 'number' ? at : 0 } : undefined
}
