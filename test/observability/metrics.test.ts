/** The metrics: what is reported to them is what Prometheus reads. */
import t from 'tap'
import { createMetrics } from '../../src/observability/metrics.ts'

t.test('requests are counted by route pattern, verb and class of status', async (t) => {
  const metrics = createMetrics()
  metrics.answered('POST', '/api_keys', 200, 0.004)
  metrics.answered('POST', '/api_keys', 201, 0.004)
  metrics.answered('POST', '/api_keys', 404, 0.004)
  const text = await metrics.text()
  const name = 'chapar_http_request_duration_seconds'
  t.match(text, `${name}_count{method="POST",route="/api_keys",status="2xx"} 2`)
  t.match(text, `${name}_count{method="POST",route="/api_keys",status="4xx"} 1`)
  t.match(text, `${name}_bucket{le="0.005",method="POST",route="/api_keys",status="2xx"} 2`)
})

t.test('commits tell their updates, their size and their time', async (t) => {
  const metrics = createMetrics()
  metrics.committed(3, 0.002)
  metrics.committed(40, 0.02)
  const text = await metrics.text()
  t.match(text, 'chapar_log_appends_total 43')
  t.match(text, 'chapar_log_commit_updates_bucket{le="5"} 1')
  t.match(text, 'chapar_log_commit_duration_seconds_count 2')
})

t.test('gauges are read when they are asked for, and forget states that are gone', async (t) => {
  const metrics = createMetrics()
  let states: Record<string, number> = { online: 2, waiting: 1 }
  let age = 4
  metrics.actors('credential', () => states)
  metrics.backlogAge(async () => age)
  metrics.waitingPolls(() => 7)
  t.match(await metrics.text(), 'chapar_actors{kind="credential",state="waiting"} 1')
  states = { online: 3 }
  age = 5
  const text = await metrics.text()
  t.match(text, 'chapar_actors{kind="credential",state="online"} 3')
  t.notMatch(text, 'waiting"}')
  t.match(text, 'chapar_update_backlog_age_seconds 5')
  t.match(text, 'chapar_waiting_polls 7')
})

t.test('restarts and dropped records are counted', async (t) => {
  const metrics = createMetrics()
  metrics.actorRestarted('api_key')
  metrics.recordsDropped(12)
  const text = await metrics.text()
  t.match(text, 'chapar_actor_restarts_total{kind="api_key"} 1')
  t.match(text, 'chapar_request_log_dropped_total 12')
})

t.test('a flood of method names does not become a flood of series', async (t) => {
  const metrics = createMetrics()
  for (let i = 0; i < 1_000; i++) metrics.botCalled(`method${i}`, 0.1)
  metrics.botCalled('method1', 0.1)
  const text = await metrics.text()
  t.match(text, 'duration_seconds_count{method="method1"} 2')
  t.match(text, 'duration_seconds_count{method="other"} 600')
})

t.test('two sets of metrics know nothing of each other', async (t) => {
  const one = createMetrics({ ofProcess: true })
  const other = createMetrics()
  one.recordsDropped(1)
  t.match(await other.text(), 'chapar_request_log_dropped_total 0')
  t.match(await one.text(), 'process_resident_memory_bytes')
})

t.test('what changes its owner is counted and timed, from zero on', async (t) => {
  const metrics = createMetrics()
  const before = await metrics.text()
  t.match(before, 'chapar_takeovers_total{cause="ended"} 0')
  t.match(before, 'chapar_fenced_writes_total{table="update_log"} 0')
  metrics.tookOver('ended')
  metrics.tookOverWithin(1.2)
  metrics.handedOverWithin(0.3)
  metrics.forwardedWithin(0.002)
  metrics.fencedWrites('update_log', 3)
  metrics.unowned(4)
  let accounts: Record<string, number> = { telegram: 2, xmpp: 1 }
  metrics.owned(() => accounts)
  t.match(await metrics.text(), 'chapar_owned{platform="xmpp"} 1')
  accounts = { telegram: 3 }
  const text = await metrics.text()
  t.match(text, 'chapar_takeovers_total{cause="ended"} 1')
  t.match(text, 'chapar_takeover_seconds_bucket{le="1.5"} 1')
  t.match(text, 'chapar_handover_seconds_sum 0.3')
  t.match(text, 'chapar_forward_seconds_bucket{le="0.0025"} 1')
  t.match(text, 'chapar_fenced_writes_total{table="update_log"} 3')
  t.match(text, 'chapar_unowned 4')
  t.match(text, 'chapar_owned{platform="telegram"} 3')
  t.notMatch(text, 'xmpp')
})
