/** The kill test on XMPP: people go on writing while the service is killed, and everything has to arrive. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../support/client.ts'
import type { XmppServer } from '../support/xmpp-server.ts'
import { type AccountHistory, judge } from './verdict.ts'
import { setXmppStage, type XmppStage } from './xmpp-stage.ts'

export interface XmppPlan {
  /** What a killed client had not acknowledged the server sends again, after what it has sent to the next one. */
  readonly resendsLate: boolean
  /** Is stopped at the end. */
  readonly server: XmppServer
  readonly kills: number
  /** Messages that each of two people writes to each of two accounts in a second; besides those in its room. */
  readonly perSecond: number
}

export interface XmppReport {
  readonly kills: number
  readonly written: number
  /** Of these, in rooms. */
  readonly writtenInRooms: number
  readonly lost: number
  readonly violations: readonly string[]
  /** What is missing although later messages of the same person are there. */
  readonly holes: readonly string[]
  /** How often the timelines say that messages may be missing. */
  readonly told: number
  /** Milliseconds from each kill until what was written after it had reached every bot. */
  readonly recoveries: readonly number[]
}

/** How long the service runs between a recovery and the next kill. */
const CALM_MS = [100, 400] as const
const RECOVERY_MS = 60_000
const QUIET_MS = 20_000
const DRAINS_MS = 600_000
const READ_MS = 5_000

export async function runXmppChaos(
  { server, kills, perSecond, resendsLate }: XmppPlan,
  onKill: (count: number) => void,
): Promise<XmppReport> {
  const stage = await setXmppStage(server, perSecond)
  const writers = stage.accounts.flatMap((account) => account.writers)
  try {
    for (const writer of writers) writer.write()
    await heard(stage)
    for (const writer of writers) writer.count()
    const recoveries: number[] = []
    for (let kill = 1; kill <= kills; kill++) {
      await pause(CALM_MS[0] + Math.random() * (CALM_MS[1] - CALM_MS[0]))
      const began = performance.now()
      await stage.service.kill()
      if (kill % 2 === 0) for (const { consumer } of stage.accounts) consumer.forget()
      await reached(stage)
      recoveries.push(performance.now() - began)
      onKill(kill)
    }
    for (const writer of writers) writer.stop()
    await drained(stage)
    const report = await reportOn(stage, { kills, recoveries })
    const isOfOrder = (violation: string) => / (after|is message) \d+$/.test(violation)
    const violations = report.violations.filter((each) => !resendsLate || !isOfOrder(each))
    return { ...report, violations }
  } finally {
    await stage.close()
  }
}

/** Resolves once something of every writer has come through. */
async function heard({ accounts }: XmppStage): Promise<void> {
  const isHeard = ({ consumer, writers }: XmppStage['accounts'][number]) => {
    const texts = [...consumer.delivered.values()].map(({ text }) => text)
    return writers.every((writer) => texts.some((text) => writer.wrote(text)))
  }
  await until(() => accounts.every(isHeard), RECOVERY_MS)
}

/** Resolves once something that is written from now on has come through to the bot of every account. */
async function reached({ accounts }: XmppStage): Promise<void> {
  const before = accounts.map(({ consumer }) => consumer.delivered.size)
  await until(
    () => accounts.every(({ consumer }, index) => consumer.delivered.size > (before[index] ?? 0)),
    RECOVERY_MS,
  )
}

/** Resolves once the newest of every writer is there, or when for a while nothing came any more. */
async function drained({ accounts }: XmppStage): Promise<void> {
  let before = -1
  let since = performance.now()
  await until(() => {
    const delivered = accounts.reduce((sum, { consumer }) => sum + consumer.delivered.size, 0)
    if (delivered !== before) since = performance.now()
    before = delivered
    return accounts.every(isThere) || performance.now() - since > QUIET_MS
  }, DRAINS_MS)
}

function isThere({ consumer, writers }: XmppStage['accounts'][number]): boolean {
  const texts = new Set([...consumer.delivered.values()].map(({ text }) => text))
  return writers.every(({ newest }) => texts.has(newest))
}

async function reportOn(
  { accounts, postgres, service }: XmppStage,
  { kills, recoveries }: Pick<XmppReport, 'kills' | 'recoveries'>,
): Promise<XmppReport> {
  const histories = accounts.map(({ name, consumer, writers }) => ({
    name,
    acknowledged: writers.flatMap(({ texts }) => texts),
    delivered: consumer.delivered,
  }))
  await allRead(postgres.url(), accounts)
  const { lost, violations } = judge(histories)
  const delivered = histories.reduce((sum, account) => sum + account.delivered.size, 0)
  const { updates, events, told } = await stored(postgres.url())
  return {
    kills,
    written: histories.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0),
    writtenInRooms: accounts
      .flatMap(({ writers }) => writers.filter(({ isToRoom }) => isToRoom))
      .reduce((sum, { texts }) => sum + texts.length, 0),
    lost,
    violations: [
      ...violations,
      ...accounts.flatMap(({ consumer }) => consumer.violations),
      ...(updates === delivered ? [] : [`${updates} in the log, ${delivered} delivered`]),
      ...(events === updates ? [] : [`${updates} in the log, of ${events} events`]),
      ...(service.failures === 0 ? [] : [`the service ended by itself ${service.failures} times`]),
    ],
    holes: histories.flatMap(holes),
    told,
    recoveries,
  }
}

/** A server that sends again late does so after the newest: resolves once the bots have read that too, or after some seconds. */
async function allRead(url: string, accounts: XmppStage['accounts']): Promise<void> {
  const isRead = async () => {
    const delivered = accounts.reduce((sum, { consumer }) => sum + consumer.delivered.size, 0)
    return (await stored(url)).updates === delivered
  }
  await until(isRead, READ_MS).catch(() => undefined)
}

/** The first that is missing though later ones of the same person are there. */
function holes({ name, acknowledged, delivered }: AccountHistory): string[] {
  const texts = new Set([...delivered.values()].map(({ text }) => text))
  const last = acknowledged.findLastIndex((text) => texts.has(text))
  const missing = acknowledged.slice(0, last).filter((text) => !texts.has(text))
  return missing.length === 0 ? [] : [`${name}: ${missing.length} missing, first ${missing[0]}`]
}

/** What the log itself says. */
async function stored(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ updates: number; events: number; told: number }>(
      `select count(*)::int as updates,
              count(distinct (credential_id, source_key))::int as events,
              (select count(*)::int from credential_transition
                where event = 'archive.missing') as told
         from update_log`,
    )
    return rows[0] ?? { updates: 0, events: 0, told: 0 }
  } finally {
    await client.end()
  }
}

/** Whether the promise is kept: nothing is lost, or the account's owner is told that something may be. */
export const isKept = ({ lost, violations, holes, told }: XmppReport, hasArchive: boolean) =>
  violations.length === 0 && ((lost === 0 && holes.length === 0) || (!hasArchive && told > 0))

export function xmppSummary(report: XmppReport) {
  const { kills, written, writtenInRooms, lost, violations, holes, told, recoveries } = report
  const sorted = recoveries.toSorted((a, b) => a - b)
  const middle = Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)
  return [
    `XMPP: ${kills} kills, ${written} messages written meanwhile (${writtenInRooms} of them in rooms)`,
    `XMPP: ${lost} lost, told ${told} times`,
    ...holes.map((hole) => `  ${hole}`),
    `XMPP: ${violations.length} violations`,
    ...violations.slice(0, 20).map((violation) => `  ${violation}`),
    `XMPP: first message after a kill p50 ${middle} ms, max ${Math.round(sorted.at(-1) ?? 0)} ms`,
  ]
}
