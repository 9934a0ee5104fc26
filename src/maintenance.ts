/** Work that is repeated at intervals: retention, passivation, and the census of actors. */
import { statePath } from '../actors/api-key/actor.ts'
import { visibleState } from '../actors/credential/timeline.ts'
import { forgetUnmaskings, type Staff } from './accounts/staff.ts'
import { evaluateIncidents } from './alerts/incidents.ts'
import { polls } from './alerts/rules.ts'
import { retainChanges } from './audit/read.ts'
import { forgetAnswers } from './bot-api/idempotency.ts'
import { retainActions } from './bulk/actions.ts'
import { forgetRelinkPages } from './bulk/relinks.ts'
import type { Core } from './composition/core.ts'
import type { Config } from './config/config.ts'
import { forgetInvitations } from './credentials/shares.ts'
import { retainTimelines } from './credentials/timeline.ts'
import type { Database } from './database/database.ts'
import { forgetMarks, forgetProbes } from './database/write-watch.ts'
import { forgetMessages, forgetOldMessages } from './identities/store.ts'
import type { Jobs } from './jobs/jobs.ts'
import { forgetLinks } from './links/store.ts'
import type { OpenedMedia } from './media/open.ts'
import { atMostEvery } from './observability/bounded.ts'
import type { Logger } from './observability/logger.ts'
import type { Metrics } from './observability/metrics.ts'
import { retainUsage } from './observability/usage.ts'
import { retainTelegram } from './platforms/telegram/storage/locations.ts'
import { retainRooms } from './platforms/xmpp/rooms/kept.ts'
import { type Eraser, wipeDeletedAccounts } from './privacy/erase.ts'
import { retainSandbox } from './sandbox/sandbox.ts'
import { retainUpdates } from './updates/retention.ts'
import { wantedBy } from './updates/wanted.ts'

const HOUR_MS = 3_600_000
const SWEEP_MS = 30_000
/** The age of the backlog takes a look at every key that is in use. */
const BACKLOG_MS = 30_000
/** A link flow lives for a quarter of an hour; its actor need not outlive it. */
const LINK_IDLE_MS = 900_000

interface Upkeep {
  readonly db: Database
  readonly updates: Pick<Core['updates'], 'removed'>
  readonly limits: Config['retention']
  readonly media: Pick<OpenedMedia, 'sweep'>
  readonly eraser: Pick<Eraser, 'resume'>
  readonly logger: Logger
}

/** Retention by a reminder, so that of several nodes one does it. Call it before the jobs start. */
export function everyHour(
  jobs: Pick<Jobs, 'remind' | 'onReminder'>,
  { db, updates, limits, media, eraser, logger }: Upkeep,
): void {
  const remind = (inMs: number) =>
    jobs.remind({ kind: 'updates', id: 'retention', at: new Date(Date.now() + inMs) })
  const oldUpdates = async () => {
    const removed = await retainUpdates(
      db,
      { days: limits.updateDays, updates: limits.updates },
      (credentialId, updateId) => updates.removed(credentialId, updateId),
      (credentialId, err) => logger.error({ credentialId, err }, 'old updates were not removed'),
    )
    if (removed > 0) logger.info({ removed }, 'old updates were removed')
  }
  const chores = {
    updates: oldUpdates,
    links: () => forgetLinks(db),
    answers: () => forgetAnswers(db),
    timelines: () => retainTimelines(db),
    messages: () => forgetMessages(db),
    numbers: () => forgetOldMessages(db, limits.messageDays),
    telegram: () => retainTelegram(db, limits.updateDays),
    xmpp: () => retainRooms(db),
    sandbox: () => retainSandbox(db),
    media: () => media.sweep(),
    accounts: () => wipeDeletedAccounts(db),
    usage: () => retainUsage(db),
    changes: () => retainChanges(db),
    unmaskings: () => forgetUnmaskings(db),
    invitations: () => forgetInvitations(db),
    bulk: () => retainActions(db),
    relinks: () => forgetRelinkPages(db),
    probes: () => forgetProbes(db),
    marks: () => forgetMarks(db),
    // A service that has nothing more to deliver writes to neither, so their days end here.
    deliveries: () => dropDays(db, 'webhook_delivery', limits.deliveryDays),
    exchanges: () => dropDays(db, 'webhook_exchange', limits.bodyDays),
    calls: () => dropDays(db, 'call_exchange', limits.bodyDays),
    erasures: () => eraser.resume(),
  }
  jobs.onReminder('updates', async () => {
    await remind(HOUR_MS)
    // A chore that fails is tried again in an hour and does not stop the others.
    for (const [chore, work] of Object.entries(chores)) {
      await work().catch((err) => logger.error({ chore, err }, 'what is old was not removed'))
    }
  })
  remind(SWEEP_MS).catch((err) => logger.error({ err }, 'retention was not scheduled'))
}

/** Drops the partitions of a log that are older than so many days, and makes those of the next days. */
async function dropDays(
  db: Database,
  log: 'webhook_delivery' | 'webhook_exchange' | 'call_exchange',
  days: number,
): Promise<void> {
  await db.query(`select ${log}_upkeep(make_interval(days => $1))`, [days])
}

/** Incidents by a reminder, so that of several nodes one judges them. Call it before the jobs start. */
export function everyHalfMinute(
  jobs: Pick<Jobs, 'remind' | 'onReminder'>,
  {
    db,
    logger,
    staff,
  }: Pick<Upkeep, 'db' | 'logger'> & { readonly staff: Pick<Staff, 'operators'> },
): void {
  const remind = () =>
    jobs.remind({ kind: 'alerts', id: 'incidents', at: new Date(Date.now() + SWEEP_MS) })
  jobs.onReminder('alerts', async () => {
    await remind()
    try {
      await evaluateIncidents(db, { now: new Date(), operators: await staff.operators(), logger })
    } catch (err) {
      logger.error({ err }, 'incidents were not judged')
    }
  })
  remind().catch((err) => logger.error({ err }, 'the judging of incidents was not scheduled'))
}

/** Returns how to stop. */
export function watchActors(
  core: Core,
  world: { db: Database; metrics: Metrics; config: Config; logger: Logger },
): () => void {
  const { db, metrics, config, logger } = world
  const owned = () => [...core.supervisor.owned()].map(({ credentialId }) => credentialId)
  metrics.actors('credential', () =>
    census(core.supervisor.live(), (actor) => visibleState(actor.snapshot)[0]),
  )
  metrics.actors('api_key', () =>
    census(core.keys.live(), ([, key]) => statePath(key.snapshot.value)),
  )
  metrics.owned(() => census(core.supervisor.owned(), ({ platform }) => platform))
  metrics.waitingPolls(core.heldPolls)
  metrics.backlogAge(atMostEvery(BACKLOG_MS, () => oldestUnread(db, owned())))
  const sweep = setInterval(
    () => {
      core.keys.passivate(config.timing.passivateAfter)
      core.updates.forgetOld(config.timing.passivateAfter)
      core.links.passivate(LINK_IDLE_MS)
      void core.links.endLeft()
      core.webhookWaker
        .wakeDue()
        .catch((err) => logger.warn({ err }, 'webhooks whose rest is over were not looked for'))
    },
    Math.min(SWEEP_MS, config.timing.passivateAfter),
  )
  return () => clearInterval(sweep)
}

function census<Actor>(actors: Iterable<Actor>, stateOf: (actor: Actor) => string) {
  const counts: Record<string, number> = {}
  for (const actor of actors) {
    const state = stateOf(actor)
    counts[state] = (counts[state] ?? 0) + 1
  }
  return counts
}

/** Age in seconds, for the accounts of this node; only keys that poll count as consumers. */
async function oldestUnread(db: Database, credentialIds: readonly number[]): Promise<number> {
  const [row] = await db.query<{ age: number | null }>(
    `select extract(epoch from now() - min(u.at))::float8 as age
       from api_key k
       cross join lateral (
         select u.at from update_log u
          where u.credential_id = k.credential_id and u.update_id > k.cursor and ${wantedBy}
          order by u.update_id limit 1) u
      where ${polls('now()')} and k.revoked_at is null and k.credential_id = any($1::bigint[])`,
    [credentialIds],
  )
  return row?.age ?? 0
}
