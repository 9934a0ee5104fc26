/** Not there yet. */
import type { Finding } from './support/finding.ts'

export async function partitioning(): Promise<Finding[]> {
  return []
}
