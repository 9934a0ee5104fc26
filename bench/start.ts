/** Not there yet. */
import type { Finding } from './support/finding.ts'

export async function start(): Promise<Finding[]> {
  return []
}
