/** sendMessage of bots behind the gateway, against the same calls made to their network without it, or by a bare proxy. */
import { join } from 'node:path'
import { type Child, startChild } from './support/child.ts'
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

/** What the calls of one way took: milliseconds of each, and milliseconds of processor time in all. */
interface Load {
  readonly delays: number[]
  cpu: number
}

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
  const proxy = startChild(join(import.meta.dirname, 'support/proxy-process.ts'))
  const proxyPort = await proxy.ask<number>('start', { port })
  const processors = async (children: readonly Child[]) => {
    const parts = await Promise.all(children.map((child) => child.ask<number>('processor')))
    return parts.reduce((sum, part) => sum + part, 0)
  }
  const calls = (secretOf: (index: number) => string) =>
    Array.from({ length: CONNECTIONS }, (_, index) => {
      const body = { chat_id: 42, text: 'The quick brown fox jumps over the lazy dog.' }
      return Buffer.from(post(`/bot${secretOf(index)}/sendMessage`, body))
    })
  const ways = {
    ours: {
      port: service.port,
      requests: calls((index) => keys[index] ?? ''),
      children: [upstream, service],
    },
    bare: { port, requests: calls(tokenOf), children: [upstream] },
    proxy: { port: proxyPort, requests: calls(tokenOf), children: [upstream, proxy] },
  }
  const found: Record<keyof typeof ways, Load> = {
    ours: { delays: [], cpu: 0 },
    bare: { delays: [], cpu: 0 },
    proxy: { delays: [], cpu: 0 },
  }
  for (const { port, requests } of Object.values(ways)) await load(port, requests, WARM_UP_MS)
  // In turn, so that whatever else the machine does meets all alike.
  for (let turn = 0; turn < TURNS; turn++) {
    for (const way of ['ours', 'bare', 'proxy'] as const) {
      const { port, requests, children } = ways[way]
      const before = await processors(children)
      found[way].delays.push(...(await load(port, requests, TURN_MS)))
      found[way].cpu += (await processors(children)) - before
    }
  }
  await service.stop()
  await proxy.stop()
  await upstream.stop()

  const p50Of = ({ delays }: Load) => percentile(delays, 0.5)
  const cpuOf = ({ cpu, delays }: Load) => cpu / delays.length
  const { ours, bare, proxy: floor } = found
  const p50 = { ours: p50Of(ours), bare: p50Of(bare), added: p50Of(ours) - p50Of(bare) }
  const cpu = { ours: cpuOf(ours), bare: cpuOf(bare), added: cpuOf(ours) - cpuOf(bare) }
  return [
    {
      what: `sendMessage passed through, ${CONNECTIONS} connections, ${BOTS} bots: p50`,
      ours: milliseconds(p50.ours),
      bare: milliseconds(p50.bare),
    },
    {
      what: '  added to the p50',
      ours: milliseconds(p50.added),
      ...below(p50.added, ADDED_P50_MS, '1 ms'),
    },
    {
      what: '  processor time of a call, gateway and network',
      ours: microseconds(cpu.ours),
      bare: microseconds(cpu.bare),
    },
    {
      what: '  added to the processor time',
      ours: microseconds(cpu.added),
      ...below(cpu.added, ADDED_CPU_MS, '60 µs'),
    },
    {
      what: '  the same by a bare proxy (Fastify and undici), which checks and logs nothing: p50',
      ours: milliseconds(p50Of(floor) - p50.bare),
    },
    {
      what: '  its processor time',
      ours: microseconds(cpuOf(floor) - cpu.bare),
    },
  ]
}
