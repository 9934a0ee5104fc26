/** The time, handed in so that a test can set it. */
export type Clock = () => Date

const SECOND = 1_000

export const secondsAfter = (date: Date, seconds: number) =>
  new Date(date.getTime() + seconds * SECOND)

/** Whole seconds to wait from `now` to `then`; never less than one. */
export const secondsUntil = (then: Date, now: Date) =>
  Math.max(1, Math.ceil((then.getTime() - now.getTime()) / SECOND))
