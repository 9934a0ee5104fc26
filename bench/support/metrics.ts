/** What the service says of itself at /metrics. */
import { Connection, get } from './connection.ts'
import { METRICS_TOKEN } from './service.ts'

/** How many commits of the log there were, and the updates in them. */
export async function committedGroups(port: number): Promise<{ commits: number; updates: number }> {
  const connection = await Connection.open(port)
  const page = await connection.request(
    get('/metrics', `authorization: Bearer ${METRICS_TOKEN}\r\n`),
  )
  connection.close()
  const figure = (name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page.toString())?.[1] ?? 0)
  return {
    commits: figure('chapar_log_commit_updates_count'),
    updates: figure('chapar_log_commit_updates_sum'),
  }
}
