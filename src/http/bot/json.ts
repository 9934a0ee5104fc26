/** JSON bodies of bot calls: one object, whose members become parameters as text. */
import { failed } from '../../../machines/model/failure.ts'
import { isDeeperThan } from '../../json/depth.ts'
import { memberCount, membersInOrder } from '../../json/members.ts'

/** The reference's nesting limit. */
const DEPTH = 100

/** What clients write that always send JSON, when they have no parameters. */
const NOTHING = ['null', '[]']

/** A string member is its text, anything else stays JSON; `null` is absent. */
export function* jsonEntries(body: string, isNeeded = true): IterableIterator<[string, string]> {
  const trimmed = body.trim()
  // Where something is needed, its absence is told by what stands in its place.
  if (trimmed === '' || (!isNeeded && NOTHING.includes(trimmed))) return
  const value = parse(body)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw failed('bad_request', "can't parse the request body: a JSON object is expected")
  }
  // The first of a name counts, as everywhere among parameters; a parser would keep the last.
  const isRepeated = memberCount(body) > Object.keys(value).length
  for (const [name, member] of isRepeated ? membersInOrder(body) : Object.entries(value)) {
    if (typeof member === 'string') yield [name, member]
    else if (member !== null) yield [name, JSON.stringify(member)]
  }
}

function parse(body: string): unknown {
  if (isDeeperThan(body, DEPTH)) {
    throw failed('bad_request', "can't parse the request body: the JSON is nested too deeply")
  }
  try {
    return JSON.parse(body)
  } catch {
    throw failed('bad_request', "can't parse the request body: it is not valid JSON")
  }
}
