/** What becomes of an actor that crashes: it rests, longer each time, and is given up when it crashes again and again. */

const MOST_CRASHES = 5
const WITHIN_MS = 60_000
const FIRST_REST_MS = 1_000

/** The times of the crashes that count, the newest last, once there was another one. */
export const withCrash = (earlier: readonly number[], now: number): readonly number[] => [
  ...earlier.filter((at) => now - at < WITHIN_MS),
  now,
]

export const crashesTooOften = (crashes: readonly number[]): boolean =>
  crashes.length >= MOST_CRASHES

export const restAfter = (crashes: readonly number[]): number =>
  FIRST_REST_MS * 2 ** Math.max(0, crashes.length - 1)
