/** Percentiles of a series of measurements, and how figures are written. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** The same moment in every process of this machine, finer than a millisecond. */
export const now = (): number => performance.timeOrigin + performance.now()

export const milliseconds = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ms`
/** Of milliseconds. */
export const microseconds = (value: number) => `${(1000 * value).toFixed(0)} µs`
export const seconds = (value: number) => `${(value / 1000).toFixed(2)} s`
export const perSecond = (value: number, what: string) => `${Math.round(value)} ${what}/s`
export const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`
export const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(0)} MB`
