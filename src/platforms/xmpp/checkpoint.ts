/** How far the events of an account are stored: a place in its archive. */
import type { Json } from '../../../actors/platform.ts'

export interface Checkpoint {
  /** The archive id of the last message that is dealt with; empty: the archive was empty. */
  readonly mam: string
  /** When that was, in case the archive no longer knows the id. Unix time in seconds. */
  readonly at: number
}

/** `undefined` for an account that was never started. */
export function parseCheckpoint(stored: Json): Checkpoint | undefined {
  if (typeof stored !== 'object' || stored === null || !('mam' in stored)) return undefined
  const { mam, at } = stored
  return typeof mam === 'string' ? { mam, at: typeof at === 'number' ? at : 0 } : undefined
}
