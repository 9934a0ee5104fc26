/** `message_ids`: the messages of a call about many. */
import { failed } from '../../machines/model/failure.ts'
import type { Arguments } from './arguments.ts'

const MESSAGES = 100

const bad = (description: string) => failed('bad_request', description)

/** Numbers, or text that writes them in the one way numbers are written. */
export function messageIdsOf(args: Arguments): number[] {
  if (!args.hasJson('message_ids')) throw bad('message identifiers are not specified')
  const ids = args.json('message_ids')
  if (!Array.isArray(ids)) throw bad('expected an Array of message identifiers')
  if (ids.length === 0) throw bad('message identifiers are not specified')
  if (ids.length > MESSAGES) throw bad('too many message identifiers specified')
  return ids.map((id: unknown) => {
    const number = typeof id === 'string' && /^(0|-?[1-9]\d*)$/.test(id) ? Number(id) : id
    if (typeof number === 'number' && Number.isSafeInteger(number)) return number
    throw bad('message identifier must be a valid Integer')
  })
}
