/** A start of the service, timed from the start of its process; PostgreSQL runs already. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type Service, startService } from './service.ts'
import type { Stage } from './stage.ts'
import { now } from './statistics.ts'
import type { TelegramAddress } from './telegram.ts'

/** Milliseconds. */
export interface Started {
  readonly service: Service
  readonly listening: number
  readonly ready: number
  /** Until all accounts are online. */
  readonly active: number
  /** Processor time until then. */
  readonly processor: number
}

export async function startTimed(
  stage: Stage,
  accounts: number,
  telegram?: TelegramAddress,
): Promise<Started> {
  const port = await freePort()
  const began = now()
  const starting = startService(stage, { PORT: `${port}` }, [], telegram)
  const listening = untilIt(port, 'live').then(() => now() - began)
  const service = await starting
  await untilIt(port, 'ready')
  const ready = now() - began
  await service.ask('online', accounts)
  const active = now() - began
  const processor = await service.ask<number>('processor')
  return { service, listening: await listening, ready, active, processor }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Under the load of a start an answer may be no for a moment. */
async function untilIt(port: number, is: 'live' | 'ready'): Promise<void> {
  const says = () => fetch(`http://127.0.0.1:${port}/health/${is}`).catch(() => undefined)
  while (!(await says())?.ok) await pause(20)
}
