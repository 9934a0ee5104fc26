/** What was missed comes all at once, into a small heap: the service lives on, and loses none of it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Finding } from './support/finding.ts'
import { Listeners } from './support/listeners.ts'
import { FIRST_UPDATE, seedChatter, seedKeys, seedUser } from './support/seed.ts'
import { type Service, startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { megabytes, now, seconds } from './support/statistics.ts'

interface Case {
  readonly heapMegabytes: number
  readonly credentials: number
  readonly reports: number
  /** Messages of one report. */
  readonly batch: number
  /** With a poll held for each, which reads what comes; without, nobody reads. */
  readonly isRead: boolean
}

const cases: readonly Case[] = [
  { heapMegabytes: 512, credentials: 2_000, reports: 2, batch: 100, isRead: false },
  { heapMegabytes: 256, credentials: 3_000, reports: 4, batch: 10, isRead: true },
]
const WITHIN_MS = 600_000

export async function burst(stage: Stage): Promise<Finding[]> {
  const found: Finding[] = []
  for (const one of cases) {
    const findings = await play(stage, one)
    for (const { what, ours } of findings) stage.note(`${what}: ${ours}`)
    found.push(...findings)
  }
  return found
}

async function play(stage: Stage, one: Case): Promise<Finding[]> {
  const { heapMegabytes, credentials, reports, batch, isRead } = one
  const userId = await seedUser(stage)
  // Those of the case before come back with the service, and would count against its heap.
  await stage.sql.query('delete from api_key')
  await stage.sql.query('delete from credential')
  const credentialIds = await seedChatter(stage, userId, credentials)
  const keys = isRead ? await seedKeys(stage, userId, credentialIds) : []
  const heap = [`--max-old-space-size=${heapMegabytes}`]
  const service = await startService(stage, { START_BUDGET: '100' }, heap)
  const messages = credentials * reports * batch
  const what = `${credentials} × ${reports * batch} messages, ${heapMegabytes} MB heap, ${isRead ? 'read by held polls' : 'not read'}`
  const target = { target: 'all of them' }
  try {
    await service.ask('online', credentials)
    const outcome = await deliver(service, { credentialIds, keys, batch, reports })
    const stored = await countStored(stage, credentialIds)
    const isWhole = stored === messages && (!isRead || outcome.delivered === messages)
    const delivered = isRead ? `, ${outcome.delivered} delivered` : ''
    const peak = await service.ask<number>('peak')
    return [
      { what, ours: `${stored} stored${delivered}`, ...target, met: isWhole },
      { what: '  report to the last of them', ours: seconds(outcome.tookMs) },
      { what: '  the most memory it ever took (RSS)', ours: megabytes(peak) },
    ]
  } catch (cause) {
    stage.note(`${cause}`)
    const stored = await countStored(stage, credentialIds)
    return [{ what, ours: `failed, ${stored} of ${messages} stored`, ...target, met: false }]
  } finally {
    await service.stop()
  }
}

interface Speech {
  readonly credentialIds: readonly number[]
  readonly keys: readonly string[]
  readonly batch: number
  readonly reports: number
}

/** Resolves once everything is stored and, where somebody reads, received; rejects when the service has died of it. */
async function deliver(service: Service, { credentialIds, keys, batch, reports }: Speech) {
  const listeners = await Listeners.open(service.port, keys, FIRST_UPDATE)
  try {
    // On a slow machine a few are always between two polls.
    while ((await service.ask<number>('waitingPolls')) < 0.995 * keys.length) await pause(100)
    const began = now()
    const received = keys.length > 0 ? listeners.receive(keys.length * batch * reports) : []
    const spoken = service.ask('speak', { credentialIds, batch, reports, everyMs: 0 })
    const over = new AbortController()
    const late = pause(WITHIN_MS, undefined, { signal: over.signal }).then(() => {
      throw new Error('it takes too long')
    })
    const all = Promise.all([received, spoken])
    const [delays] = await Promise.race([all, late]).finally(() => {
      over.abort()
      late.catch(() => undefined)
    })
    return { delivered: delays.length, tookMs: now() - began }
  } finally {
    listeners.close()
  }
}

async function countStored({ sql }: Stage, credentialIds: readonly number[]): Promise<number> {
  const { rows } = await sql.query(
    `select count(distinct (credential_id, source_key)) as stored from update_log
      where credential_id = any($1)`,
    [credentialIds],
  )
  return rows[0].stored
}
