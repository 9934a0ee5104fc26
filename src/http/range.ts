/** Conditions and ranges of a request for a file, as RFC 9110 has them: one range at a time. */
export interface Span {
  readonly offset: number
  readonly length: number
}

/** `undefined`: all of it, also for what is malformed or asks for several; `unsatisfiable`: none of it is there. */
export function rangeOf(
  header: string | undefined,
  size: number,
): Span | undefined | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (from === '' && to === '') return undefined
  if (from === '') {
    const length = Math.min(Number(to), size)
    return length === 0 ? 'unsatisfiable' : { offset: size - length, length }
  }
  const offset = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < offset) return undefined
  return offset >= size ? 'unsatisfiable' : { offset, length: last - offset + 1 }
}

/** Whether `If-None-Match` names this tag; a weak one counts. */
export function isUnchanged(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etag)
}

/** A range is given only of the bytes that the client has the beginning of. */
export const rangeApplies = (ifRange: unknown, etag: string): boolean =>
  ifRange === undefined || ifRange === etag
