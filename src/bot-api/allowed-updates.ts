/** The `allowed_updates` of a call. */
import { kindsFrom } from '../../machines/model/update-kinds.ts'
import type { Arguments } from './arguments.ts'

/** What is no array of strings keeps the stored setting, without an error. */
export function kindsOf(args: Arguments): number | undefined {
  const names = args.json('allowed_updates')
  const isList = Array.isArray(names) && names.every((name) => typeof name === 'string')
  return isList ? kindsFrom(names) : undefined
}
