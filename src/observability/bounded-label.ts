/** Keeps the number of a label's values bounded, since every value is a time series for ever. */

/** The first `limit` distinct values pass; any further one is `other`. */
export function boundedLabel(limit: number): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= limit) return 'other'
    known.add(value)
    return value
  }
}
