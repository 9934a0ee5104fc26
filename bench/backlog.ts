/** Not there yet. */
import type { Finding } from './support/finding.ts'

export async function backlog(): Promise<Finding[]> {
  return []
}
