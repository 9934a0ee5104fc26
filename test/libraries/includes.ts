/** Compares what a library says with what is wanted of it. */

/**
 * Every member that is wanted is there; an array has the wanted items first and in order, functions judge,
 * and numbers as text are numbers, since some languages have no integers of that size.
 */
export function includes(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted === 'function') return wanted(actual) === true
  if (wanted instanceof RegExp) return typeof actual === 'string' && wanted.test(actual)
  if (Array.isArray(wanted)) {
    return Array.isArray(actual) && wanted.every((item, index) => includes(actual[index], item))
  }
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof actual !== 'object' || actual === null) return false
    const members = actual as Readonly<Record<string, unknown>>
    return Object.entries(wanted).every(([name, value]) => includes(members[name], value))
  }
  if (typeof wanted === 'number' && typeof actual === 'string') return String(wanted) === actual
  // Many types leave out what is false.
  if (wanted === false) return actual === false || actual === undefined || actual === null
  return actual === wanted
}

/** Throws with both sides when it does not. */
export function expect(actual: unknown, wanted: unknown, name = 'the answer'): void {
  if (includes(actual, wanted)) return
  const words = (value: unknown) =>
    JSON.stringify(value, (_, inner) =>
      inner instanceof RegExp || typeof inner === 'function' ? String(inner) : inner,
    )
  throw new Error(`${name} is ${words(actual)?.slice(0, 1_500)}, not with ${words(wanted)}`)
}
