/** Lines of CSV (RFC 4180), and what they say of an account. */
import type { CredentialRecord } from '../records/credential.ts'

const columns: Readonly<
  Record<string, (record: CredentialRecord) => string | number | null | undefined>
> = {
  credential_id: (record) => record.credential_id,
  platform: (record) => record.platform,
  first_name: (record) => record.account.first_name,
  last_name: (record) => record.account.last_name,
  username: (record) => record.account.username,
  phone: (record) => record.account.phone,
  state: (record) => record.state,
  reason: (record) => record.reason,
  action: (record) => record.action,
  online_since: (record) => record.online_since,
  last_event_at: (record) => record.health.last_event_at,
  created_at: (record) => record.created_at,
  latency_ms: (record) => record.health.latency_ms,
  node: (record) => record.node,
  tags: (record) => record.tags.join(' '),
}

export const credentialColumns: readonly string[] = Object.keys(columns)

export const credentialCells = (record: CredentialRecord): string[] =>
  Object.values(columns).map((cell) => `${cell(record) ?? ''}`)

/** A spreadsheet would run a name that begins like a formula; a quote in front keeps it text. A phone is a number. */
export const csvLine = (cells: readonly string[]) =>
  `${cells
    .map((cell) => (/^[=+\-@\t\r]/.test(cell) && !/^\+\d+$/.test(cell) ? `'${cell}` : cell))
    .map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',')}\r\n`
