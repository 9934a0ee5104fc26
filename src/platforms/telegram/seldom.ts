/** What is true of many chats at once is told once, and again when it is true another time. */

/** The same is told no more often than once in so many milliseconds. */
export function seldom<What>(
  milliseconds: number,
  tell: (what: What) => void,
  now: () => number = () => performance.now(),
): (what: What) => void {
  const told = new Map<What, number>()
  return (what) => {
    const last = told.get(what)
    if (last !== undefined && now() - last < milliseconds) return
    told.set(what, now())
    tell(what)
  }
}
