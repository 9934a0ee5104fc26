/** The tally of usage: one row for each owner, hour, measure and label, whatever the order of requests. */
import t from 'tap'
import { type RequestRecord, UsageTally } from '../../src/observability/usage.ts'

const HOUR = 3_600_000
const request = (more: Partial<RequestRecord> = {}): RequestRecord => ({
  at: 5 * HOUR + 1,
  requestId: 'r',
  userId: 1,
  apiKeyId: 3,
  credentialId: 2,
  method: 'sendMessage',
  status: 200,
  errorCode: null,
  description: null,
  reason: null,
  params: null,
  durationMs: 1,
  requestBytes: 10,
  responseBytes: 20,
  ip: '',
  userAgent: null,
  ...more,
})

t.test('figures of one owner, hour, measure and label add up, all others are apart', async (t) => {
  const tally = new UsageTally()
  tally.countRequest(request())
  tally.countRequest(request({ at: 6 * HOUR - 1 }))
  tally.countRequest(request({ method: 'getMe', errorCode: 400, requestBytes: 0 }))
  tally.countRequest(request({ at: 6 * HOUR, responseBytes: 0 }))
  tally.countRequest(request({ apiKeyId: 4, responseBytes: 0, requestBytes: 0 }))
  tally.countRequest(request({ userId: null }))
  tally.countRequest(
    request({ method: 'GET /v1/keys', apiKeyId: null, credentialId: null, errorCode: 404 }),
  )
  tally.count({ userId: 1, credentialId: 2 }, { updatesReceived: 7, bytesIn: 0 }, 5 * HOUR)
  const line = (row: ReturnType<UsageTally['take']>[number]) =>
    `${row.userId} ${row.credentialId} ${row.apiKeyId} ${row.hour / HOUR} ${row.measure} ${row.label} ${row.amount}`
  t.equal(tally.size, 13)
  t.same(
    tally.take().map(line).sort(),
    [
      '1 0 0 5 bytes_in  10',
      '1 0 0 5 bytes_out  20',
      '1 0 0 5 management_error 404 1',
      '1 0 0 5 request GET /v1/keys 1',
      '1 2 0 5 updates_received  7',
      '1 2 3 5 bytes_in  20',
      '1 2 3 5 bytes_out  60',
      '1 2 3 5 error 400 1',
      '1 2 3 5 request getMe 1',
      '1 2 3 5 request sendMessage 2',
      '1 2 3 6 bytes_in  10',
      '1 2 3 6 request sendMessage 1',
      '1 2 4 5 request sendMessage 1',
    ].sort(),
  )
  t.equal(tally.size, 0)
})
