/** Deals test files to shares of about the same time. */

/** Seconds of a file that is not in the table of times. */
const USUAL = 1

/**
 * The longest file comes first, each goes to the share with the least time so far. The same files and times always give
 * the same shares.
 */
export function deal(
  files: readonly string[],
  seconds: Readonly<Record<string, number>>,
  shares: number,
): readonly (readonly string[])[] {
  const timeOf = (file: string) => seconds[file] ?? USUAL
  const dealt = Array.from({ length: shares }, () => ({ files: [] as string[], seconds: 0 }))
  const longestFirst = [...files].sort((a, b) => timeOf(b) - timeOf(a) || (a < b ? -1 : 1))
  for (const file of longestFirst) {
    const least = dealt.reduce((a, b) => (b.seconds < a.seconds ? b : a))
    least.files.push(file)
    least.seconds += timeOf(file)
  }
  return dealt.map((share) => share.files)
}
