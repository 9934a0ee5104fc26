/** Incidents and what is told of them, on a simulated clock: accounts that go out and come back, and nodes that tell. */
import type { Test } from 'tap'
import type { ChannelParts } from '../../src/alerts/channels.ts'
import { evaluateIncidents, listIncidents } from '../../src/alerts/incidents.ts'
import { Notifier } from '../../src/alerts/notifier.ts'
import { listNotifications } from '../../src/alerts/outbox.ts'
import { AlertSettingsStore, signingOf, type Targets } from '../../src/alerts/settings.ts'
import type { CallExecution } from '../../src/bot-api/execute.ts'
import { createGuardedAgent } from '../../src/net/guard.ts'
import { testDatabase } from '../support/database.ts'
import { only } from '../support/fakes.ts'
import { quietLogger } from '../support/logger.ts'
import { testVault } from '../support/vault.ts'

export const MINUTE = 60_000
export const start = Date.parse('2026-01-01T00:00:00Z')

export async function rig(t: Test, more: Partial<ChannelParts> = {}) {
  const { database } = await testDatabase(t)
  await database.query('alter table credential disable trigger all')
  await database.query(`insert into app_user (id, phone_index, phone_sealed)
    overriding system value values (1, 'a', ''), (2, 'b', '')`)
  const settings = new AlertSettingsStore(database, await testVault(t, database))
  const agent = createGuardedAgent({ allowPrivate: true })
  t.teardown(() => agent.destroy())
  let now = start
  const operators: number[] = []
  const node = () =>
    new Notifier({
      db: database,
      settings,
      logger: quietLogger,
      incarnation: () => 1,
      now: () => now,
      channels: {
        agent,
        timeoutMs: 2_000,
        page: 'https://panel.test/dashboard/alerts',
        keys: only<ChannelParts['keys']>(t, 'keys', {}),
        execution: only<CallExecution>(t, 'execution', {}),
        mail: undefined,
        now: () => now,
        ...more,
      },
    })
  const notifier = node()
  const evaluate = () =>
    evaluateIncidents(database, { now: new Date(now), operators, logger: quietLogger })
  return {
    database,
    operators,
    settings,
    node,
    notifier,
    evaluate,
    at: (minutes: number) => {
      now = start + minutes * MINUTE
    },
    /** What happens each half minute, at this minute. */
    async tick(minutes: number) {
      now = start + minutes * MINUTE
      await evaluate()
      await notifier.sendDue()
    },
    save: (targets: Targets, minutes = 5, userId = 1) =>
      settings.change(userId, () => ({ minutes, backlogMinutes: 15, targets })),
    async out(ids: readonly number[], reason = 'network', since = 0, userId = 1) {
      await database.query(
        `insert into credential (id, user_id, platform, native_id, state, machine_state, reason, troubled_since)
         select id, $2, 'sandbox', id::text, 'degraded', 'waiting', $3, $4 from unnest($1::bigint[]) as id`,
        [ids, userId, reason, new Date(start + since * MINUTE)],
      )
    },
    back: (ids: readonly number[]) =>
      database.query('update credential set troubled_since = null where id = any($1)', [ids]),
    incidents: () => listIncidents(database, [1, 0], { before: undefined, limit: 10 }),
    notifications: (userId = 1) =>
      listNotifications(database, userId, { state: undefined, before: undefined, limit: 50 }),
  }
}

export const webhookTo = (url: string): Targets => ({
  webhook: { url, signing: signingOf({}, start) },
})
