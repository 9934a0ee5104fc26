/** Reads what sessions have stored as JSON: secrets, checkpoints, the steps of a link. */
import type { Json } from '../../../actors/ports/platform.ts'

/** The fields of an object; of anything else, none. */
export function fieldsOf(stored: Json | undefined): { readonly [key: string]: Json } {
  const isObject = typeof stored === 'object' && stored !== null && !Array.isArray(stored)
  return isObject ? (stored as { readonly [key: string]: Json }) : {}
}
