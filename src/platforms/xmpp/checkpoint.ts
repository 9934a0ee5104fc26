/** How far the events of an account are stored: a place in its archive, and one in that of each of its rooms. */
import type { Json } from '../../../actors/platform.ts'

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

export function checkpointsJson(checkpoints: Checkpoints, own: string): Json {
  const rooms = [...checkpoints].filter(([address]) => address !== own)
  const places = rooms.map(([room, place]) => [room, { ...place }] as const)
  return {
    ...checkpoints.get(own),
    ...(places.length > 0 && { rooms: Object.fromEntries(places) }),
  }
}

function parse(stored: Json | undefined): Checkpoint | undefined {
  if (!isObject(stored)) return undefined
  const { mam, at } = stored
  return typeof mam === 'string' ? { mam, at: typeof at === 'number' ? at : 0 } : undefined
}

function isObject(stored: Json | undefined): stored is { readonly [key: string]: Json } {
  return typeof stored === 'object' && stored !== null && !Array.isArray(stored)
}
