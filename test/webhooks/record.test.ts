/** A webhook as its owner sees it: seconds as they began, and only what there is. */
import t from 'tap'
import { type WebhookColumns, webhookRecord } from '../../src/webhooks/record.ts'

const AT = 1_800_000_000
const key = { pending: 3, filter: [], receives: true }
const columns: WebhookColumns = {
  url: 'https://bot.example/',
  has_certificate: false,
  max_connections: 40,
  header_names: ['x-tenant'],
  ip_address: null,
  error_at: null,
  error: null,
  success_at: null,
  due_at: null,
  failing_since: null,
  suspended: false,
}
const bare = {
  url: columns.url,
  has_custom_certificate: false,
  pending_update_count: 3,
  max_connections: 40,
  header_names: ['x-tenant'],
}

t.test('seconds as they began', async (t) => {
  t.strictSame(webhookRecord(columns, key), { ...bare, state: 'delivering' })
  const failing = {
    ...columns,
    ip_address: '192.0.2.1',
    error_at: AT + 0.9,
    error: 'Connection refused',
    success_at: AT - 0.1,
    due_at: AT + 5.25,
    failing_since: AT + 0.5,
  }
  t.strictSame(webhookRecord(failing, key), {
    ...bare,
    ip_address: '192.0.2.1',
    last_error_date: AT,
    last_error_message: 'Connection refused',
    last_success_date: AT - 1,
    state: 'resting',
    failing_since: '2027-01-15T08:00:00.500Z',
    next_attempt_at: '2027-01-15T08:00:05.250Z',
  })
  t.match(webhookRecord({ ...failing, suspended: true }, key), { state: 'suspended' })
})

t.test('nothing is tried for a key that may not receive', async (t) => {
  const failing = { ...columns, due_at: AT + 5, failing_since: AT }
  const record = webhookRecord(failing, { ...key, receives: false })
  t.strictSame(record, { ...bare, state: 'stopped' })
  const suspended = webhookRecord({ ...failing, suspended: true }, { ...key, receives: false })
  t.match(suspended, { state: 'suspended', next_attempt_at: undefined })
})
