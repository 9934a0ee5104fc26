/** Many XMPP accounts on one server: linked, started together with messages waiting, idle. */
import { setTimeout as pause } from 'node:timers/promises'
import { Prosody, prosodyMissing } from '../test/support/prosody.ts'
import { Slixmpp, type SlixmppClient } from '../test/support/slixmpp.ts'
import { below, type Finding } from './support/finding.ts'
import { type SeedAccount, seedCredentials, seedUser } from './support/seed.ts'
import { type Service, startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { kilobytes, now, seconds } from './support/statistics.ts'
import { linkXmpp } from './support/xmpp.ts'

const ACCOUNTS = 200
const LINKED_AT_ONCE = 10
const PASSWORD = 'of the benchmark'
const ARRIVES_MS = 60_000

export async function xmpp(stage: Stage): Promise<Finding[]> {
  if (prosodyMissing) return [{ what: 'XMPP accounts', ours: `not run: ${prosodyMissing}` }]
  await using opened = new AsyncDisposableStack()
  const prosody = await Prosody.start({ quickArchive: true })
  opened.defer(() => prosody.stop())
  const slixmpp = new Slixmpp()
  opened.defer(() => slixmpp.stop())
  const users = Array.from({ length: ACCOUNTS }, (_, index) => `account-${index}`)
  await prosody.seed(['friend', ...users], PASSWORD)
  const friend = await slixmpp.client(`friend@${prosody.domain}/phone`, PASSWORD, prosody.port)

  const empty = await startService(stage)
  const before = await empty.memory()
  await empty.stop()

  const linking = now()
  const accounts = await linkAll(prosody, users)
  const linked = now() - linking
  await seedCredentials(stage, await seedUser(stage), 'xmpp', accounts)
  const first = await started(stage, () => undefined)
  await written(stage, friend, accounts, 'live')
  await first.service.stop()

  const waiting = accounts.map(({ native }) => friend.send(native, 'missed')).length
  const again = await started(stage, () => stored(stage, 2 * waiting))
  const after = await again.service.memory()
  await again.service.stop()
  const heap = (after.heap - before.heap) / ACCOUNTS
  const rss = (after.rss - before.rss) / ACCOUNTS
  return [
    { what: `${ACCOUNTS} XMPP accounts linked, ${LINKED_AT_ONCE} at once`, ours: seconds(linked) },
    {
      what: '  process start to all of them active, the first time',
      ours: seconds(first.active),
      ...below(first.active, 20_000, '20 s'),
    },
    {
      what: '  the same on a restart, a message waiting for each',
      ours: seconds(again.active),
      ...below(again.active, 20_000, '20 s'),
    },
    { what: '  until each message is in the log', ours: seconds(again.caughtUp) },
    { what: '  processor time of the service until then', ours: seconds(again.processor) },
    {
      what: '  memory of an idle account (RSS)',
      ours: kilobytes(rss),
      ...below(rss, 1_048_576, '1 MB'),
    },
    { what: '  the same (heap)', ours: kilobytes(heap) },
  ]
}

/** Resolves with what linking leaves to be stored. */
async function linkAll(prosody: Prosody, users: readonly string[]): Promise<SeedAccount[]> {
  const queue = [...users]
  const accounts: SeedAccount[] = []
  const work = async () => {
    for (let user = queue.shift(); user !== undefined; user = queue.shift()) {
      accounts.push(await linkXmpp(prosody, user, PASSWORD))
    }
  }
  await Promise.all(Array.from({ length: LINKED_AT_ONCE }, work))
  return accounts
}

interface Started {
  readonly service: Service
  /** Milliseconds from the start of the process. */
  readonly active: number
  readonly caughtUp: number
  /** Milliseconds of processor time of the service alone, which other work on the machine does not stretch. */
  readonly processor: number
}

async function started(stage: Stage, caughtUp: () => Promise<void> | undefined): Promise<Started> {
  const began = now()
  const service = await startService(stage)
  const [active, stored] = await Promise.all([
    service.ask('online', ACCOUNTS).then(() => now() - began),
    Promise.resolve(caughtUp()).then(() => now() - began),
  ])
  return { service, active, caughtUp: stored, processor: await service.ask('processor') }
}

async function written(
  stage: Stage,
  friend: SlixmppClient,
  accounts: readonly SeedAccount[],
  text: string,
): Promise<void> {
  for (const { native } of accounts) friend.send(native, text)
  await stored(stage, accounts.length)
}

/** Resolves once so many messages are in the log, none of them twice; rejects when they never are. */
async function stored({ sql }: Stage, count: number): Promise<void> {
  const limit = AbortSignal.timeout(ARRIVES_MS)
  for (;;) {
    const { rows } = await sql.query(
      `select count(*)::int as updates, count(distinct credential_id)::int as accounts
         from update_log`,
    )
    const { updates, accounts } = rows[0]
    if (updates > count) throw new Error(`${updates} messages were stored instead of ${count}`)
    if (updates === count && accounts === ACCOUNTS) return
    if (limit.aborted) throw new Error(`${updates} of ${count} messages were stored`)
    await pause(50)
  }
}
