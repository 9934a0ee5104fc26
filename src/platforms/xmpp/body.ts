/** The text that people see of a message: its body without what is there only for older clients (XEP-0428). */
import type { Element } from '@xmpp/client'
import { ns } from './namespaces.ts'

/** Extensions whose meaning is read from their own elements, so that their stand-in in the body is superfluous. */
const understood: ReadonlySet<string> = new Set([
  ns.reply,
  ns.correction,
  ns.retraction,
  ns.fileSharing,
])

/** One of each kind, and some to spare. Each is looked for at each place of the text. */
const mostRanges = 8

export function bodyOf(message: Element): string | undefined {
  const body = message.getChildText('body')
  if (body === null) return undefined
  const ranges = message
    .getChildren('fallback', ns.fallback)
    .filter(({ attrs }) => attrs.for && understood.has(attrs.for))
    .slice(0, mostRanges)
    .map((fallback) => rangeOf(fallback.getChild('body')))
  return ranges.length === 0 ? body : without(body, ranges)
}

interface Range {
  readonly start: number
  readonly end: number
}

function rangeOf(body: Element | undefined): Range {
  const start = Number(body?.attrs.start ?? 0)
  const end = Number(body?.attrs.end ?? Number.POSITIVE_INFINITY)
  return { start: start >= 0 ? start : 0, end: end >= 0 ? end : 0 }
}

/** Ranges count code points, not UTF-16 units. */
function without(body: string, ranges: readonly Range[]): string {
  return [...body]
    .filter((_, index) => !ranges.some(({ start, end }) => index >= start && index < end))
    .join('')
}
