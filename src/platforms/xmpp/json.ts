/** Reading what was stored as JSON. */
import type { Json } from '../../../actors/ports/platform.ts'

export function isObject(stored: Json | undefined): stored is { readonly [key: string]: Json } {
  return typeof stored === 'object' && stored !== null && !Array.isArray(stored)
}
