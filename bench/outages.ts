/** A network goes away under thousands of accounts and comes back: how soon they are online again, and who feels it. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Crowd, ofEachCrowd, processOf } from './support/crowd.ts'
import { below, type Finding } from './support/finding.ts'
import { seedCredentials, seedKeys, seedUser } from './support/seed.ts'
import { seedLinked } from './support/seed-sandbox.ts'
import type { Service } from './support/service.ts'
import { empty, type Stage } from './support/stage.ts'
import { startTimed } from './support/starting.ts'
import { milliseconds, now, percentile, seconds } from './support/statistics.ts'

const GONE_MS = 60_000
const SILENT_MS = 120_000
const CALM_MS = 10_000
const RETURNS_MS = 600_000

export const outages = (stage: Stage): Promise<Finding[]> =>
  ofEachCrowd(stage, (name, crowd, opened) => breakOff(stage, name, crowd, opened))

async function breakOff(
  stage: Stage,
  name: string,
  crowd: Crowd,
  opened: AsyncDisposableStack,
): Promise<Finding[]> {
  const { accounts, telegram } = crowd
  await empty(stage.sql)
  const owner = await seedUser(stage)
  const { credentialIds } = await seedLinked(stage, owner, 1)
  const [key = ''] = await seedKeys(stage, owner, credentialIds)
  await seedCredentials(stage, await seedUser(stage), telegram ? 'telegram' : 'xmpp', accounts)
  const { service } = await startTimed(stage, accounts.length + 1, telegram)
  opened.defer(() => service.stop())
  const bystander = processOf('bystander-process')
  opened.defer(() => bystander.stop())
  await bystander.ask('begin', { port: service.port, key })
  await pause(CALM_MS)
  await bystander.ask('end')

  const what = `${accounts.length} accounts of ${name}`
  const watch = { stage, crowd, service, bystander: { child: bystander, key } }
  const gone = await outage(watch, GONE_MS, (isOut) => crowd.serve(!isOut))
  const silent = await outage(watch, SILENT_MS, async (isOut) => crowd.freeze(isOut))
  return [
    ...findings(`${what}: the server is gone for ${seconds(GONE_MS)}`, gone),
    ...findings(`${what}: the server is silent for ${seconds(SILENT_MS)}`, silent),
  ]
}

interface Watch {
  readonly stage: Stage
  readonly crowd: Crowd
  readonly service: Service
  readonly bystander: { readonly child: ReturnType<typeof processOf>; readonly key: string }
}

interface Outage {
  /** Milliseconds from the server's return until all are online. */
  readonly returning: number
  /** Of somebody else's calls meanwhile, in milliseconds. */
  readonly delays: readonly number[]
  /** Milliseconds of processor time a second, while the server was out, and of the return for each account. */
  readonly worked: number
  readonly returned: number
  /** States of accounts when the server had been out for the whole time. */
  readonly states: string
  /** What the database says of them then. */
  readonly stored: string
  /** Connections opened for each account until all were online. */
  readonly opened: number | undefined
  readonly stall: number
}

async function outage(
  { stage, crowd, service, bystander }: Watch,
  forMs: number,
  out: (isOut: boolean) => Promise<void>,
): Promise<Outage> {
  const { child, key } = bystander
  const count = crowd.accounts.length
  const before = await crowd.connections()
  await child.ask('begin', { port: service.port, key })
  await service.ask('stalls', 'begin')
  const worked = await service.ask<number>('processor')
  await out(true)
  await pause(forMs)
  const between = await service.ask<number>('processor')
  const states = told(await service.ask<Record<string, number>>('states'))
  const stored = told(await storedStates(stage))
  stage.note(`out: ${states}; in the database: ${stored}`)
  await out(false)
  const back = now()
  const limit = AbortSignal.timeout(RETURNS_MS)
  for (let online = 0; online < count + 1 && !limit.aborted; ) {
    await pause(250)
    online = (await service.ask<Record<string, number>>('states'))['live.online'] ?? 0
  }
  const returning = now() - back
  const returned = ((await service.ask<number>('processor')) - between) / count
  const stall = await service.ask<number>('stalls', 'end')
  const delays = await child.ask<number[]>('end')
  const after = await crowd.connections()
  stage.note(`all online after ${seconds(returning)}`)
  await pause(CALM_MS)
  const opened =
    after.ever === undefined || before.ever === undefined
      ? undefined
      : (after.ever - before.ever) / count
  return {
    returning,
    delays,
    worked: (between - worked) / (forMs / 1_000),
    returned,
    states,
    stored,
    opened,
    stall,
  }
}

async function storedStates({ sql }: Stage): Promise<Record<string, number>> {
  const { rows } = await sql.query(
    `select state || ' ' || coalesce(reason, '') as state, count(*)::int as count
       from credential group by 1`,
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

const told = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([what, count]) => `${what.trim()}: ${count}`)
    .join(', ')

const BYSTANDER_MS = 50

const findings = (what: string, found: Outage): Finding[] => {
  const slow = percentile(found.delays, 0.99)
  return [
    { what: `${what}: from its return to all online`, ours: seconds(found.returning) },
    { what: '  states before it', ours: found.states },
    { what: '  the same in the database', ours: found.stored },
    {
      what: "  somebody else's getMe meanwhile",
      ours: `p50 ${milliseconds(percentile(found.delays, 0.5))}, p99 ${milliseconds(slow)}, most ${milliseconds(Math.max(...found.delays))}`,
      ...below(slow, BYSTANDER_MS, milliseconds(BYSTANDER_MS)),
    },
    { what: '  longest stall of the event loop', ours: milliseconds(found.stall) },
    { what: '  processor time a second while it is out', ours: milliseconds(found.worked) },
    { what: '  processor time of the return for each account', ours: milliseconds(found.returned) },
    ...(found.opened === undefined
      ? []
      : [{ what: '  connections opened for each account', ours: found.opened.toFixed(2) }]),
  ]
}
