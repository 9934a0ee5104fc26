/** Reads a costly figure no more often than it is worth, however often it is asked for. */
export function atMostEvery<Value>(
  milliseconds: number,
  read: () => Promise<Value>,
  now: () => number = Date.now,
): () => Promise<Value> {
  let known: { readonly value: Promise<Value>; readonly until: number } | undefined
  return () => {
    if (known && now() < known.until) return known.value
    const value = read()
    known = { value, until: now() + milliseconds }
    // What failed is asked for again.
    value.catch(() => {
      if (known?.value === value) known = undefined
    })
    return value
  }
}
