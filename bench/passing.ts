/** sendMessage of bots behind the gateway, against the same calls made to their network without it. */
import { join } from 'node:path'
import { startChild } from './support/child.ts'
import { load, post } from './support/connection.ts'
import { below, type Finding } from './support/finding.ts'
import { seedCredentials, seedKeys, seedUser } from './support/seed.ts'
import { startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { microseconds, milliseconds, percentile } from './support/statistics.ts'

const BOTS = 8
/** So few that no call waits for another. */
const CONNECTIONS = 4
const WARM_UP_MS = 4_000
const TURNS = 6
const TURN_MS = 1_500
const ADDED_P50_MS = 1
const ADDED_CPU_MS = 0.06

const tokenOf = (index: number) => `${1_000 + index}:${'a'.repeat(35)}`

export async function passing(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const bots = Array.from({ length: BOTS }, (_, index) => ({
    native: `${1_000 + index}`,
    firstName: 'Bot',
    secrets: { token: tokenOf(index) },
  }))
  const credentialIds = await seedCredentials(stage, userId, 'telegram-bot', bots)
  const keys = await seedKeys(stage, userId, credentialIds)
  const upstream = startChild(join(import.meta.dirname, 'support/upstream-process.ts'))
  const port = await upstream.ask<number>('start')
  const service = await startService(stage, {
    START_BUDGET: '100',
    TELEGRAM_BOT_API_URL: `http://127.0.0.1:${port}`,
  })
  await service.ask('online', BOTS)
  const processors = async () => {
    const parts = [upstream, service].map((child) => child.ask<number>('processor'))
    const [theirs = 0, ours = 0] = await Promise.all(parts)
    return theirs + ours
  }
  const calls = (secretOf: (index: number) => string) =>
    Array.from({ length: CONNECTIONS }, (_, index) => {
      const body = { chat_id: 42, text: 'The quick brown fox jumps over the lazy dog.' }
      return Buffer.from(post(`/bot${secretOf(index)}/sendMessage`, body))
    })
  const ways = {
    ours: { port: service.port, requests: calls((index) => keys[index] ?? '') },
    bare: { port, requests: calls(tokenOf) },
  }
  const found = {
    ours: { delays: [] as number[], cpu: 0 },
    bare: { delays: [] as number[], cpu: 0 },
  }
  for (const { port, requests } of Object.values(ways)) await load(port, requests, WARM_UP_MS)
  // In turn, so that whatever else the machine does meets both alike.
  for (let turn = 0; turn < TURNS; turn++) {
    for (const way of ['ours', 'bare'] as const) {
      const before = await processors()
      found[way].delays.push(...(await load(ways[way].port, ways[way].requests, TURN_MS)))
      found[way].cpu += (await processors()) - before
    }
  }
  await service.stop()
  await upstream.stop()

  const p50 = { ours: percentile(found.ours.delays, 0.5), bare: percentile(found.bare.delays, 0.5) }
  const cpu = {
    ours: found.ours.cpu / found.ours.delays.length,
    bare: found.bare.cpu / found.bare.delays.length,
  }
  const added = { p50: p50.ours - p50.bare, cpu: cpu.ours - cpu.bare }
  return [
    {
      what: `sendMessage passed through, ${CONNECTIONS} connections, ${BOTS} bots: p50`,
      ours: milliseconds(p50.ours),
      bare: milliseconds(p50.bare),
    },
    {
      what: '  added to the p50',
      ours: milliseconds(added.p50),
      ...below(added.p50, ADDED_P50_MS, '1 ms'),
    },
    {
      what: '  processor time of a call, gateway and network',
      ours: microseconds(cpu.ours),
      bare: microseconds(cpu.bare),
    },
    {
      what: '  added to the processor time',
      ours: microseconds(added.cpu),
      ...below(added.cpu, ADDED_CPU_MS, '60 µs'),
    },
  ]
}
